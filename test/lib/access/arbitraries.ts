/** Generates scopes and requests from few names, so that random ones often match. */
import fc from 'fast-check'
import type { Attributes, Target } from '../../../lib/access/attributes/attributes.ts'
import type { Scope } from '../../../lib/access/scopes/scope.ts'

const name = fc.constantFrom('a', 'b')
const nameOrAll = fc.constantFrom('a', 'b', '*', '')
const project = fc.constantFrom('a', 'b')
const verb = fc.constantFrom('get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', '*')
const few = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 2 })

/** Makes every member optional. */
const part = <T extends Record<string, fc.Arbitrary<unknown>>>(members: T) =>
  fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<{
    [K in keyof T]?: T[K] extends fc.Arbitrary<infer V> ? V : never
  }>

const pattern = fc.constantFrom(
  'virtualclusterinstances',
  'virtualclusterinstances/status',
  'virtualclusterinstances/*',
  '*/status',
  '*',
  '*/*',
  'pods',
  'ownedaccesskeys',
)
const group = fc.constantFrom('', 'management.platform', 'authorization.k8s.io')
const url = fc.constantFrom('/metrics', '/metrics/*', '/*', '*', '/apis', '/logs/a')

const rule = part({
  verbs: few(verb),
  resources: few(part({ group, resources: few(pattern), resourceNames: few(name) })),
  resourceNames: few(name),
  namespaces: few(fc.constantFrom('', 'p-a', 'default')),
  nonResourceURLs: few(url),
  requestTargets: few(
    fc.constantFrom(
      'Management' as const,
      'Cluster' as const,
      'ProjectSpace' as const,
      'ProjectVirtualCluster' as const,
    ),
  ),
  cluster: fc.constantFrom('', 'a'),
  virtualClusters: few(part({ name: fc.constantFrom('', 'a'), namespace: fc.constantFrom('', 'p-a') })),
})

export const entries = {
  roles: part({
    role: fc.constantFrom(
      'agent',
      'vcluster',
      'network-peer',
      'runner',
      'workspace',
      'platformCLI',
      'selfRotate',
      'view',
      'admin',
      'toString',
      '__proto__',
    ),
    projects: few(nameOrAll),
    virtualClusters: few(fc.constantFrom('a', 'a/b', 'a/*', '*', 'b/a', '/', '')),
  }),
  projects: part({ project: nameOrAll }),
  spaces: part({ project: nameOrAll, space: nameOrAll }),
  virtualClusters: part({ project: nameOrAll, virtualCluster: nameOrAll }),
  clusters: part({ cluster: nameOrAll }),
  rules: rule,
}

export const scope: fc.Arbitrary<Scope> = part({
  roles: few(entries.roles),
  projects: few(entries.projects),
  spaces: few(entries.spaces),
  virtualClusters: few(entries.virtualClusters),
  clusters: few(entries.clusters),
  rules: few(rule),
  allowPlatformCli: fc.boolean(),
})

export const target: fc.Arbitrary<Target> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ type: 'Management' as const }) },
  fc.record({ type: fc.constant('Cluster' as const), cluster: name }),
  fc.record({ type: fc.constant('ProjectSpace' as const), project, space: name }),
  fc.record({ type: fc.constant('ProjectVirtualCluster' as const), project, virtualCluster: name }),
)

export const attributes: fc.Arbitrary<Attributes> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        kind: fc.constant('resource' as const),
        target,
        verb,
        kindOf: fc.constantFrom(
          ['management.platform', 'virtualclusterinstances', ''],
          ['management.platform', 'virtualclusterinstances', 'status'],
          ['management.platform', 'virtualclusterinstances', 'kubeconfig'],
          ['management.platform', 'clusters', ''],
          ['management.platform', 'clusters', 'kubeconfig'],
          ['management.platform', 'ownedaccesskeys', ''],
          ['management.platform', 'ownedaccesskeys', 'rotate'],
          ['management.platform', 'selves', ''],
          ['authorization.k8s.io', 'subjectaccessreviews', ''],
          ['authentication.k8s.io', 'tokenreviews', ''],
          ['apiextensions.k8s.io', 'customresourcedefinitions', ''],
          ['apiextensions.k8s.io', 'customresourcedefinitions', 'status'],
          ['', 'pods', ''],
          ['', 'pods', 'log'],
          ['', 'pods', 'exec'],
          ['', 'secrets', ''],
          ['', '*', ''],
        ),
        name: fc.constantFrom('', 'a', 'b'),
        namespace: fc.constantFrom('', 'p-', 'p-a', 'p-b', 'default'),
        allNamespaces: fc.boolean(),
      })
      .map(({ kindOf: [g = '', resource = '', subresource = ''], allNamespaces, ...rest }) => ({
        ...rest,
        group: g,
        resource,
        subresource,
        ...(allNamespaces && rest.namespace === '' && { allNamespaces: true as const }),
      })),
  },
  fc.record({
    kind: fc.constant('nonresource' as const),
    target,
    verb: fc.constantFrom('get', 'post', 'head'),
    path: fc.constantFrom(
      '/',
      '/metrics',
      '/metrics/a',
      '/apis',
      '/apis/a/b',
      '/apis/a/b/c',
      '/openapi/v3',
      '/version',
      '/logs/a',
      '/api/v1',
      '/api/v1/x',
    ),
  }),
)
