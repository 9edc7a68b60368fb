/** The paths of the API's resources below its root. */

const GROUP = 'apis/management.platform/v1'

const at = (...parts: readonly string[]): string => [GROUP, ...parts.map(encodeURIComponent)].join('/')

export const paths = {
  /** The resources of the API. */
  discovery: at(),
  selves: at('selves'),
  keys: at('ownedaccesskeys'),
  key: (name: string) => at('ownedaccesskeys', name),
  rotate: (name: string) => at('ownedaccesskeys', name, 'rotate'),
  history: (name: string) => at('ownedaccesskeys', name, 'history'),
  usage: (name: string) => at('ownedaccesskeys', name, 'usage'),
  revocations: at('accesskeyrevocations'),
  lookups: at('accesskeylookups'),
  accessReview: (name: string) => at('ownedaccesskeys', name, 'accessreview'),
  providers: at('identityproviders'),
  provider: (name: string) => at('identityproviders', name),
  trusts: at('federatedidentitycredentials'),
  trust: (name: string) => at('federatedidentitycredentials', name),
  virtualClusters: at('virtualclusterinstances'),
  virtualClustersIn: (namespace: string) => at('namespaces', namespace, 'virtualclusterinstances'),
  virtualCluster: (namespace: string, name: string) => at('namespaces', namespace, 'virtualclusterinstances', name),
  clusters: at('clusters'),
  cluster: (name: string) => at('clusters', name),
  /** Of a virtual cluster, or of a connected cluster, which is in no namespace. */
  kubeConfig: (namespace: string | undefined, name: string) =>
    `${namespace === undefined ? paths.cluster(name) : paths.virtualCluster(namespace, name)}/kubeconfig`,
  clusterTokens: at('directclusterendpointtokens'),
} as const
