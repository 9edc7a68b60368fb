/**
 * Lists the served resources as paths name them. Functions use this list because their bundles do not contain every
 * kind. `test/agreement.test.ts` compares it with `index.ts`.
 */
import { groupVersion } from '../meta/groupversion.ts'
import { group, version } from './management/v1/group.ts'

export interface ServedResource {
  /** `GROUP/VERSION`. */
  groupVersion: string
  plural: string
  subresource?: string
  namespaced: boolean
  stored: boolean
  /** Whether the resource has a `status` subresource. */
  status: boolean
}

/** The group version of this API itself. */
export const ownGroupVersion = groupVersion({ group, version })

const own = { groupVersion: ownGroupVersion, namespaced: false, stored: false, status: false }
const authentication = { ...own, groupVersion: 'authentication.k8s.io/v1' }
const authorization = { ...own, groupVersion: 'authorization.k8s.io/v1' }

export const servedResources: readonly ServedResource[] = [
  { ...own, plural: 'ownedaccesskeys', stored: true, status: true },
  { ...own, plural: 'ownedaccesskeys', subresource: 'rotate' },
  { ...own, plural: 'ownedaccesskeys', subresource: 'accessreview' },
  { ...own, plural: 'accesskeyrevocations' },
  { ...own, plural: 'federatedidentitycredentials', stored: true, status: true },
  { ...own, plural: 'identityproviders', stored: true, status: true },
  { ...own, plural: 'virtualclusterinstances', namespaced: true, stored: true, status: true },
  { ...own, plural: 'virtualclusterinstances', subresource: 'kubeconfig', namespaced: true },
  { ...own, plural: 'directclusterendpointtokens' },
  { ...own, plural: 'selves' },
  { ...authentication, plural: 'selfsubjectreviews' },
  { ...authentication, plural: 'tokenreviews' },
  { ...authorization, plural: 'selfsubjectaccessreviews' },
  { ...authorization, plural: 'selfsubjectrulesreviews' },
  { ...authorization, plural: 'subjectaccessreviews' },
]

const plurals = (within: boolean) =>
  new Set(servedResources.filter(({ namespaced }) => namespaced === within).map(({ plural }) => plural))

/** Plural names of the cluster-scoped kinds. */
export const clusterScoped: ReadonlySet<string> = plurals(false)

/** Plural names of the namespaced kinds. */
export const namespaced: ReadonlySet<string> = plurals(true)
