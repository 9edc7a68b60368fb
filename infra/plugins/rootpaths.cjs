/**
 * Serves the paths of a Kubernetes API at the root too: `/api`, `/apis`, `/openapi`, `/version` and the health checks.
 * `kubectl get --raw`, `kubectl proxy` and some clients drop the path of a server's address. Each route below the base path
 * gets a twin, with the same function and authorizer. HEAD gets none: no client uses it.
 */

const roots = ['api', 'apis', 'openapi', 'version', 'healthz', 'livez', 'readyz']

module.exports = class RootPaths {
  constructor(serverless) {
    this.hooks = { 'before:package:initialize': () => this.add(serverless.service) }
  }

  add(service) {
    const base = service.provider.environment.BASE_PATH.replace(/\/$/, '')
    if (base === '') return
    for (const name of service.getAllFunctions()) {
      const target = service.getFunction(name)
      const twins = (target.events ?? [])
        .filter(({ http }) => http && http.method !== 'head' && http.path.startsWith(`${base}/`))
        .map(({ http }) => ({ http: { ...http, path: http.path.slice(base.length) } }))
        .filter(({ http }) => roots.includes(http.path.split('/')[1]))
      if (twins.length > 0) target.events = [...target.events, ...twins]
    }
  }
}
