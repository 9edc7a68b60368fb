/**
 * The table of kinds: a row for each kind of this API, with its place in the API and who may create it. Paths, discovery, scopes
 * and roles follow from it. It has no code of the kinds, so that every function can have it. `test/kinds.test.ts` compares the
 * table with the handlers of the functions.
 */

interface Row {
  group: string
  version: string
  /** Plural resource name, as in paths. */
  plural: string
  singular?: string
  scope: 'Cluster' | 'Namespaced'
  archetype: 'stored' | 'virtual' | 'computed'
  /** Set if the kind is a subresource of `plural`: POST …/PLURAL/NAME/SUBRESOURCE, and GET of a computed one. */
  subresource?: string
  /**
   * Who may create objects of a virtual kind, besides system:masters: `every scope` includes keys whose scope allows nothing
   * else, `every user` is within the scope, and `clusters` have a role for it. Of stored kinds the strategy decides, and of
   * subresources that of their parent.
   */
  creators?: 'every scope' | 'every user' | 'clusters'
}

/** The API group of this API's own kinds. */
export const MANAGEMENT_GROUP = 'management.platform'

const stored = { group: MANAGEMENT_GROUP, version: 'v1', scope: 'Cluster', archetype: 'stored' } as const
const virtual = { ...stored, archetype: 'virtual' } as const
const computed = { ...stored, archetype: 'computed' } as const
const authentication = { ...virtual, group: 'authentication.k8s.io' } as const
const authorization = { ...virtual, group: 'authorization.k8s.io' } as const
const keys = { plural: 'ownedaccesskeys', singular: 'ownedaccesskey' } as const
const instances = {
  scope: 'Namespaced',
  plural: 'virtualclusterinstances',
  singular: 'virtualclusterinstance',
} as const

/** The kinds of this API's own group come first, and each resource comes before its subresources. */
const table = {
  OwnedAccessKey: { ...stored, ...keys },
  OwnedAccessKeyRotation: { ...virtual, ...keys, subresource: 'rotate' },
  OwnedAccessKeyAccessReview: { ...virtual, ...keys, subresource: 'accessreview' },
  OwnedAccessKeyUsage: { ...computed, ...keys, subresource: 'usage' },
  OwnedAccessKeyHistory: { ...computed, ...keys, subresource: 'history' },
  AccessKeyRevocation: { ...virtual, plural: 'accesskeyrevocations', creators: 'every user' },
  AccessKeyLookup: { ...virtual, plural: 'accesskeylookups', creators: 'every user' },
  FederatedIdentityCredential: { ...stored, plural: 'federatedidentitycredentials' },
  IdentityProvider: { ...stored, plural: 'identityproviders' },
  VirtualClusterInstance: { ...stored, ...instances },
  VirtualClusterInstanceKubeConfig: { ...virtual, ...instances, subresource: 'kubeconfig' },
  Cluster: { ...stored, plural: 'clusters' },
  ClusterKubeConfig: { ...virtual, plural: 'clusters', singular: 'cluster', subresource: 'kubeconfig' },
  DirectClusterEndpointToken: { ...virtual, plural: 'directclusterendpointtokens', creators: 'every user' },
  Self: { ...virtual, plural: 'selves', creators: 'every scope' },
  SelfSubjectReview: { ...authentication, plural: 'selfsubjectreviews', creators: 'every scope' },
  TokenReview: { ...authentication, plural: 'tokenreviews', creators: 'clusters' },
  SelfSubjectAccessReview: { ...authorization, plural: 'selfsubjectaccessreviews', creators: 'every scope' },
  SelfSubjectRulesReview: { ...authorization, plural: 'selfsubjectrulesreviews', creators: 'every scope' },
  SubjectAccessReview: { ...authorization, plural: 'subjectaccessreviews', creators: 'clusters' },
} as const satisfies Record<string, Row>

type Table = typeof table

export type KindName = keyof Table

/** The names of the stored kinds. */
export type StoredName = { [K in KindName]: Table[K]['archetype'] extends 'stored' ? K : never }[KindName]

/** A row with its own name. */
export interface KindRow extends Row {
  kind: KindName
  singular: string
}

/** The rows by the names of their kinds. */
export const KINDS = Object.fromEntries(
  Object.entries(table).map(([kind, row]) => [kind, { kind, singular: kind.toLowerCase(), ...row }]),
) as unknown as { readonly [K in KindName]: Table[K] & { readonly kind: K; readonly singular: string } }

/** The rows in the order of the table. */
export const kindRows: readonly KindRow[] = Object.values(KINDS)

const pluralsOf = (scope: Row['scope']): ReadonlySet<string> =>
  new Set(kindRows.filter((row) => row.scope === scope).map(({ plural }) => plural))

/** Plural names of the cluster-scoped kinds. */
export const clusterScoped = pluralsOf('Cluster')

/** Plural names of the namespaced kinds. */
export const namespaced = pluralsOf('Namespaced')

const creators = new Map(
  kindRows.flatMap(({ group, plural, subresource, creators }) =>
    subresource === undefined ? [[`${group}/${plural}`, creators]] : [],
  ),
)

/** Returns who may create objects of a virtual kind besides system:masters, or undefined for other resources. */
export const creatorsOf = ({ group, resource }: { group: string; resource: string }): Row['creators'] =>
  creators.get(`${group}/${resource}`)
