/**
 * Serves the paths of a Kubernetes API at the root too: `/api`, `/apis`, `/openapi`, `/version` and the health checks.
 * `kubectl get --raw`, `kubectl proxy` and some clients drop the path of a server's address. Each route below the base path
 * gets a twin, with the same function, authorizer and settings of the stage. HEAD gets none: no client uses it.
 */

const roots = ['api', 'apis', 'openapi', 'version', 'healthz', 'livez', 'readyz']

module.exports = class RootPaths {
  constructor(serverless) {
    const { service } = serverless
    this.hooks = {
      'before:package:initialize': () => this.add(service),
      'before:aws:package:finalize:saveServiceState': () => {
        const { ApiStage } = service.provider.compiledCloudFormationTemplate.Resources
        ApiStage.Properties.MethodSettings.push(...this.settings(service, ApiStage.Properties.MethodSettings))
      },
    }
  }

  /** Returns the path of the twin at the root, or undefined if the path has none. */
  twinOf(service, path) {
    const base = service.provider.environment.BASE_PATH.replace(/\/$/, '')
    if (base === '' || !path.startsWith(`${base}/`)) return undefined
    const twin = path.slice(base.length)
    return roots.includes(twin.split('/')[1]) ? twin : undefined
  }

  /** Returns the settings of methods with a limit of their own for the twins, which otherwise have the limit of all methods. */
  settings(service, all) {
    return all.flatMap((setting) => {
      const path = setting.ResourcePath.replace('/~1', '/').replaceAll('~1', '/')
      const twin = setting.HttpMethod === 'HEAD' ? undefined : this.twinOf(service, path)
      return twin === undefined ? [] : [{ ...setting, ResourcePath: `/${twin.replaceAll('/', '~1')}` }]
    })
  }

  add(service) {
    for (const name of service.getAllFunctions()) {
      const target = service.getFunction(name)
      const twins = (target.events ?? [])
        .filter(({ http }) => http && http.method !== 'head')
        .map(({ http }) => ({ http: { ...http, path: this.twinOf(service, http.path) } }))
        .filter(({ http }) => http.path !== undefined)
      if (twins.length > 0) target.events = [...target.events, ...twins]
    }
  }
}
