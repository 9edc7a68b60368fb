/** The routes of the API: paths in API Gateway's notation, such as `/a/{name}/{proxy+}`, and their methods. */

import { BASE_PATH } from '../lib/clusters/deployment.ts'
import { groupVersion } from '../lib/engine/meta/groupversion.ts'
import type { KindRow } from '../lib/kinds.ts'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY'

export interface Route {
  method: Method
  path: string
  /** Served without the authorizer. */
  open?: true
}

const routesBelow = (base: string) => {
  const on =
    (...methods: Method[]) =>
    (...paths: string[]): Route[] =>
      paths.flatMap((path) => methods.map((method) => ({ method, path: base + path })))
  return {
    /** HEAD is served wherever GET is. */
    get: on('GET', 'HEAD'),
    post: on('POST'),
    put: on('PUT'),
    patch: on('PATCH'),
    delete: on('DELETE'),
    /** Any other method than those with a route of their own. */
    any: on('ANY'),
  }
}

/** Makes routes below the base path. */
export const below = routesBelow(BASE_PATH)
/** Makes routes at the root of the stage or domain. */
export const atRoot = routesBelow('')

export const open = (routes: readonly Route[]): Route[] => routes.map((route) => ({ ...route, open: true }))

/** The functions of a stored kind. */
export const verbs = ['create', 'get', 'list', 'update', 'patch', 'delete', 'deletecollection'] as const
export type StoredVerb = (typeof verbs)[number]

/** Returns the routes of a function of a kind: of a verb of a stored kind, or of the one function of another kind. */
export function routesOf(kind: KindRow, verb?: StoredVerb): Route[] {
  const base = `/apis/${groupVersion(kind)}`
  const namespaced = kind.scope === 'Namespaced'
  const all = `${base}/${namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  const one = `${all}/{name}`
  const served = kind.subresource === undefined ? all : `${one}/${kind.subresource}`
  const withStatus = [one, `${one}/status`]
  switch (verb) {
    case undefined:
      return kind.archetype === 'computed' ? below.get(served) : below.post(served)
    case 'create':
      return below.post(all)
    case 'get':
      return below.get(...withStatus)
    case 'list':
      return below.get(all, ...(namespaced ? [`${base}/${kind.plural}`] : []))
    case 'update':
      return below.put(...withStatus)
    case 'patch':
      return below.patch(...withStatus)
    case 'delete':
      return below.delete(one)
    case 'deletecollection':
      return below.delete(all)
  }
}

const twins = ['api', 'apis', 'openapi', 'version', 'healthz', 'livez', 'readyz']

/**
 * Adds the routes at the root for the paths of a Kubernetes API. `kubectl get --raw`, `kubectl proxy` and some clients drop the path of
 * a server's address. HEAD gets none: no client uses it.
 */
export const withTwins = (routes: readonly Route[]): Route[] => [
  ...routes,
  ...routes.flatMap((route) => {
    const path = route.path.startsWith(`${BASE_PATH}/`) ? route.path.slice(BASE_PATH.length) : ''
    return route.method !== 'HEAD' && twins.includes(path.split('/')[1] ?? '') ? [{ ...route, path }] : []
  }),
]
