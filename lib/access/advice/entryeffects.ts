/**
 * Reads from entries what else depends on the scope of a key: credentials that it made and objects that carry its scope. Such
 * consequences are in no decision about a later request.
 */

import { KINDS, type KindRow, MANAGEMENT_GROUP } from '../../kinds.ts'
import { type Attributes, managementRequest, type ResourceAttributes } from '../attributes/attributes.ts'
import { kubeConfigCluster } from '../scopes/reachableclusters.ts'
import { isInstance, isReview } from '../scopes/roles.ts'
import { ANY_NAME, type UsedEntry, type UsedPlace } from './usedentry.ts'

/** Returns the attributes of a request to this API for a resource, or undefined for any other request. */
function here({ attributes }: UsedEntry): ResourceAttributes | undefined {
  return attributes.kind === 'resource' && attributes.target.type === 'Management' ? attributes : undefined
}

const creates = (entry: UsedEntry, { group, plural }: KindRow): boolean => {
  const asked = here(entry)
  return asked?.verb === 'create' && asked.group === group && asked.resource === plural && asked.subresource === ''
}

/** Reports whether the entry makes tokens, which are valid at all clusters that the scope reaches. */
export const makesTokens = (entry: UsedEntry): boolean => creates(entry, KINDS.DirectClusterEndpointToken)

/** Reports whether the entry asks for reviews. A cluster that asks needs the lines that name it, though no request uses them. */
export const asksForReviews = (entry: UsedEntry): boolean => here(entry) !== undefined && isReview(entry.attributes)

/** Returns the connected or virtual cluster whose kube config the entry makes. */
export function kubeConfigOf(entry: UsedEntry): UsedPlace | undefined {
  const asked = here(entry)
  if (asked?.verb !== 'create') return undefined
  const cluster = kubeConfigCluster(asked)
  if (cluster !== undefined) return { type: 'cluster', name: cluster }
  const { namespace, name, subresource } = asked
  const isMade = isInstance(asked) && subresource === KINDS.VirtualClusterInstanceKubeConfig.subresource
  return isMade ? { type: 'virtualCluster', namespace, name } : undefined
}

/** What carries scopes: keys, and what makes or changes keys. */
const SCOPED: ReadonlySet<string> = new Set(
  [KINDS.OwnedAccessKey, KINDS.AccessKeyRevocation, KINDS.FederatedIdentityCredential, KINDS.IdentityProvider].map(
    ({ plural }) => plural,
  ),
)
const HARMLESS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'delete', 'deletecollection'])

/**
 * Reports whether the entry makes or changes what carries scopes. What a key makes inherits its scope and does more than the key
 * itself, and it may change only what carries its whole chain, which what it made before would not.
 */
export function managesKeys(entry: UsedEntry): boolean {
  const asked = here(entry)
  return asked?.group === MANAGEMENT_GROUP && SCOPED.has(asked.resource) && !HARMLESS.has(asked.verb)
}

/** What a key with a scope reads only of keys that carry its whole chain. */
const REVIEWING: ReadonlySet<string> = new Set([
  KINDS.OwnedAccessKeyUsage.subresource,
  KINDS.OwnedAccessKeyHistory.subresource,
])

/** Reports whether the entry reads what keys do, of any key. */
export function readsUsage(entry: UsedEntry): boolean {
  const asked = here(entry)
  return asked?.group === MANAGEMENT_GROUP && REVIEWING.has(asked.subresource)
}

/** Returns the requests that are judged together with that of the entry, and are in no record of their own. */
export function impliedBy(entry: UsedEntry): UsedEntry[] {
  const asked = here(entry)
  if (asked === undefined) return []
  // An apply creates a missing object.
  if (asked.verb === 'patch' && asked.subresource === '') return [{ attributes: { ...asked, verb: 'create' } }]
  // A namespace exists for those who may list the instances in it.
  const { group, resource, namespace } = asked
  const isNamespace = group === '' && resource === 'namespaces' && namespace !== '' && namespace !== ANY_NAME
  const listed: Attributes = managementRequest(KINDS.VirtualClusterInstance, { verb: 'list', namespace })
  return isNamespace && ['get', 'list', 'watch'].includes(asked.verb)
    ? [{ attributes: listed }, { attributes: { ...listed, verb: 'watch' } }]
    : []
}
