/**
 * Lists requests together with the attributes that a review describes them by. The objects are those of `makeObjects`: alice
 * may use instance `a` and cluster `a` and owns key `a`, but no `b`.
 */
import { accessKey, cluster, clusters, instance, instances, keys, management } from './objects.ts'
import type { TestServer } from './server.ts'

/** Makes the objects that the requests name. */
export async function makeObjects(server: TestServer): Promise<void> {
  const access = [{ verbs: ['*'], users: ['alice'] }]
  await server.make(instances('p-a'), instance('a', { access }))
  await server.make(instances('p-b'), instance('b'))
  await server.make(clusters, cluster('a', { access }))
  await server.make(clusters, cluster('b'))
  await server.make(keys, accessKey('a', { user: 'alice' }))
  await server.make(keys, accessKey('b', { user: 'bob' }))
}

export interface AskedRequest {
  /** The attributes in the review. */
  resourceAttributes?: Record<string, string>
  nonResourceAttributes?: Record<string, string>
  method: string
  path: string
  /** The object or the path does not exist. */
  nothing?: boolean
  body?: unknown
  type?: string
}

const group = 'management.platform'
const merge = { body: {}, type: 'application/merge-patch+json' }

/** Returns the requests to the objects of a stored kind, all without an effect. Only the objects `there` exist. */
function ofKind(
  resource: string,
  collection: string,
  namespace: string,
  there: readonly string[],
  body: unknown,
): AskedRequest[] {
  const attributes = { group, resource, namespace }
  const at = (verb: string, more: object, method: string, path: string, rest: object = {}): AskedRequest => ({
    resourceAttributes: { ...attributes, verb, ...more },
    nothing: 'name' in more && !there.includes(String(more.name)),
    method,
    path: `${collection}${path}`,
    ...rest,
  })
  return [
    at('list', {}, 'GET', ''),
    at('create', {}, 'POST', '?dryRun=All', { body }),
    at('deletecollection', {}, 'DELETE', '?dryRun=All'),
    ...['a', 'b', 'none'].flatMap((name) => [
      at('list', { name }, 'GET', `?fieldSelector=metadata.name%3D${name}`),
      at('get', { name }, 'GET', `/${name}`),
      at('get', { name, subresource: 'status' }, 'GET', `/${name}/status`),
      at('patch', { name }, 'PATCH', `/${name}?dryRun=All`, merge),
      at('patch', { name, subresource: 'status' }, 'PATCH', `/${name}/status?dryRun=All`, merge),
      at('delete', { name }, 'DELETE', `/${name}?dryRun=All`),
    ]),
  ]
}

const createRequest = (where: string, resource: string, body: object = {}): AskedRequest => ({
  resourceAttributes: { group: where, resource, verb: 'create' },
  method: 'POST',
  path: `/apis/${where}/v1/${resource}?dryRun=All`,
  body,
})

const allInstances = `${management}/virtualclusterinstances`
/** Every request that this API serves, without an effect: reads, and dry runs of the others. */
export const askedRequests: readonly AskedRequest[] = [
  ...ofKind('ownedaccesskeys', keys, '', ['a', 'b'], accessKey('new')),
  ...ofKind('clusters', clusters, '', ['a', 'b'], cluster('new')),
  ...['a', 'b'].map((name) => ({
    resourceAttributes: { group, resource: 'clusters', subresource: 'kubeconfig', verb: 'create', name },
    method: 'POST',
    path: `${clusters}/${name}/kubeconfig?dryRun=All`,
    body: { spec: {} },
  })),
  ...['a', 'b', ''].flatMap((there) => {
    const namespace = there ? `p-${there}` : 'default'
    return ofKind('virtualclusterinstances', instances(namespace), namespace, [there], instance('new'))
  }),
  {
    resourceAttributes: { group, resource: 'virtualclusterinstances', verb: 'list' },
    method: 'GET',
    path: allInstances,
  },
  ...['a', 'b'].map((name) => ({
    resourceAttributes: {
      group,
      resource: 'virtualclusterinstances',
      subresource: 'kubeconfig',
      verb: 'create',
      name,
      namespace: `p-${name}`,
    },
    method: 'POST',
    path: `${instances(`p-${name}`)}/${name}/kubeconfig?dryRun=All`,
    body: { spec: { server: 'https://a.example.com' } },
  })),
  createRequest(group, 'directclusterendpointtokens', { spec: { scope: { clusters: [{ cluster: 'a' }] } } }),
  createRequest(group, 'selves'),
  createRequest(group, 'accesskeyrevocations', { spec: { names: ['nothing'] } }),
  createRequest(group, 'accesskeylookups', { spec: { key: 'n'.repeat(40) } }),
  ...['a', 'b', 'none'].map((name) => ({
    resourceAttributes: { group, resource: 'ownedaccesskeys', subresource: 'accessreview', verb: 'create', name },
    nothing: name === 'none',
    method: 'POST',
    path: `${keys}/${name}/accessreview`,
    body: { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
  })),
  ...['a', 'b', 'none'].flatMap((name) =>
    ['usage', 'history'].map((subresource) => ({
      resourceAttributes: { group, resource: 'ownedaccesskeys', subresource, verb: 'get', name },
      nothing: name === 'none',
      method: 'GET',
      path: `${keys}/${name}/${subresource}`,
    })),
  ),
  createRequest('authentication.k8s.io', 'selfsubjectreviews'),
  createRequest('authentication.k8s.io', 'tokenreviews', { spec: { token: 'x' } }),
  createRequest('authorization.k8s.io', 'selfsubjectrulesreviews', { spec: { namespace: 'p-a' } }),
  createRequest('authorization.k8s.io', 'subjectaccessreviews', {
    spec: { user: 'x', resourceAttributes: { verb: 'get' } },
  }),
  { resourceAttributes: { resource: 'namespaces', verb: 'list' }, method: 'GET', path: '/api/v1/namespaces' },
  {
    resourceAttributes: { resource: 'namespaces', verb: 'get', name: 'p-a' },
    method: 'GET',
    path: '/api/v1/namespaces/p-a',
  },
  {
    resourceAttributes: { resource: 'namespaces', verb: 'patch', namespace: 'p-a', name: 'p-a' },
    method: 'PATCH',
    path: '/api/v1/namespaces/p-a',
    ...merge,
  },
  ...['', '/a'].map((name) => ({
    resourceAttributes: {
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
      verb: name ? 'get' : 'list',
      name: name.slice(1),
    },
    nothing: name !== '',
    method: 'GET',
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions${name}`,
  })),
  ...[
    '/metrics',
    '/logs/a',
    '/apis',
    '/apis/nobody.example',
    '/apis/nobody.example/v1',
    '/openapi/v3',
    '/nothing',
  ].flatMap((path) =>
    // A review may also name the path with the base path.
    [path, `/kubernetes/management${path}`].map((asked) => ({
      nonResourceAttributes: { verb: 'get', path: asked },
      nothing: true,
      method: 'GET',
      path,
    })),
  ),
]
