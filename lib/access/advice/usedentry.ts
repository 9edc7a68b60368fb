/**
 * Describes the requests that a key made, as usage records them: without the name of the object, unless the scopes of the key
 * tell names apart. So many requests are one entry, and every scope that allows the entry allows each of them.
 *
 *     {verb:get group:'' resource:pods subresource:log namespace:web name:'' anyName:true cluster:prod}
 */

import type { JsonObject } from '../../engine/meta/types.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import { KINDS } from '../../kinds.ts'
import type { Attributes, Decision, ResourceAttributes, Target } from '../attributes/attributes.ts'
import { evaluate } from '../scopes/evaluate.ts'
import { everyScopeAllows } from '../scopes/everyscope.ts'
import { evaluateAt, type Place, targetOf } from '../scopes/place.ts'
import type { ScopeOptions } from '../scopes/project.ts'
import { isCluster, isInstance } from '../scopes/roles.ts'
import type { ScopeChain } from '../scopes/scope.ts'
import type { SpaceOptions } from '../scopes/space.ts'

/** A connected or virtual cluster, as scopes name it. The uid of a virtual cluster has no meaning for them. */
export type UsedPlace = { type: 'cluster'; name: string } | { type: 'virtualCluster'; namespace: string; name: string }

export interface UsedEntry {
  /** `name` is '' for a request without a name, `ANY_NAME` for every name, and otherwise the name. */
  attributes: Attributes
  /** The cluster that asked about the request. Absent for a request to this API. */
  place?: UsedPlace
}

type Options = ScopeOptions & SpaceOptions

/** Stands for every name. No object has it. */
export const ANY_NAME = '\u0000'

/** Decides the request of an entry by a chain: as this API decides it, or as it answers the cluster. */
export const judgeEntry = (chain: ScopeChain, { attributes, place }: UsedEntry, options: Options): Decision =>
  place ? evaluateAt(chain, withUid(place), attributes, options) : evaluate(chain, attributes, options)

/** Returns the place as it asks. */
export const withUid = (place: UsedPlace): Place => (place.type === 'cluster' ? place : { ...place, uid: '' })

/** Returns the attributes as people read them: every name is no name. */
export const withoutAnyName = (attributes: Attributes): Attributes =>
  attributes.kind === 'resource' && attributes.name === ANY_NAME ? { ...attributes, name: '' } : attributes

/**
 * Returns the entry of a request that the chain allows. Returns undefined for what every scope allows: it tells nothing about
 * a scope.
 */
export function usedEntry(
  chain: ScopeChain,
  attributes: Attributes,
  place: UsedPlace | undefined,
  options: Options,
): UsedEntry | undefined {
  if (everyScopeAllows({ ...attributes, target: { type: 'Management' } })) return undefined
  const exact: UsedEntry = { attributes, ...(place && { place }) }
  if (attributes.kind === 'nonresource' || attributes.name === '' || tellsNamesApart(attributes)) return exact
  const folded: UsedEntry = { ...exact, attributes: { ...attributes, name: ANY_NAME } }
  return grantOf(judgeEntry(chain, folded, options)) === grantOf(judgeEntry(chain, exact, options)) &&
    !JSON.stringify(chain).includes('\\u0000')
    ? folded
    : exact
}

/** A namespace is where the request is. A kube config is one for everything in its cluster or virtual cluster, which scopes list by name. */
const tellsNamesApart = (attributes: ResourceAttributes): boolean =>
  (attributes.group === '' && attributes.resource === 'namespaces') ||
  ((isInstance(attributes) || isCluster(attributes)) &&
    attributes.subresource === KINDS.VirtualClusterInstanceKubeConfig.subresource)

/** What a decision grants: `all`, the objects of the user's `own`, or the key it`self`. */
export const grantOf = (decision: Decision): 'all' | 'own' | 'self' | undefined =>
  decision.allowed ? (decision.self ? 'self' : decision.own ? 'own' : 'all') : undefined

/** Returns the stored form of an entry. The same entry has the same form. */
export function encodeEntry({ attributes, place }: UsedEntry): JsonObject {
  const where = place ? encodePlace(place) : {}
  if (attributes.kind === 'nonresource') return { verb: attributes.verb, path: attributes.path, ...where }
  const { verb, group, resource, subresource, namespace, name, allNamespaces } = attributes
  return {
    verb,
    group,
    resource,
    subresource,
    namespace,
    ...(allNamespaces && { allNamespaces }),
    ...(name === ANY_NAME ? { anyName: true } : { name }),
    ...where,
  }
}

/** Returns the entry of a stored form. What is not in this form counts as nothing: usage decides no request. */
export function decodeEntry(stored: unknown, options: ScopeOptions): UsedEntry | undefined {
  if (!isObject(stored)) return undefined
  const { verb, path, group, resource, subresource, namespace, name, anyName, allNamespaces } = stored
  const place = decodePlace(stored)
  const isElsewhere = stored.cluster !== undefined || stored.virtualCluster !== undefined
  if (typeof verb !== 'string' || (isElsewhere && !place)) return undefined
  const target: Target = place ? targetOf(withUid(place), options) : { type: 'Management' }
  const at = place ? { place } : {}
  if (typeof path === 'string') return { attributes: { kind: 'nonresource', target, verb, path }, ...at }
  const texts = { group, resource, subresource, namespace, name: anyName === true ? ANY_NAME : name }
  if (!Object.values(texts).every((text) => typeof text === 'string')) return undefined
  const named = texts as Pick<ResourceAttributes, keyof typeof texts>
  const attributes: Attributes = {
    kind: 'resource',
    target,
    verb,
    ...named,
    ...(allNamespaces === true && { allNamespaces }),
  }
  return { attributes, ...at }
}

/** Returns the stored form of a place. */
export const encodePlace = (place: UsedPlace): JsonObject =>
  place.type === 'cluster' ? { cluster: place.name } : { virtualCluster: `${place.namespace}/${place.name}` }

/** Returns the place of a stored form, or undefined for another form. */
export function decodePlace(stored: unknown): UsedPlace | undefined {
  if (!isObject(stored)) return undefined
  const { cluster, virtualCluster } = stored
  if (typeof cluster === 'string') return { type: 'cluster', name: cluster }
  if (typeof virtualCluster !== 'string') return undefined
  const [namespace = '', name = '', ...more] = virtualCluster.split('/')
  return more.length === 0 && name !== '' ? { type: 'virtualCluster', namespace, name } : undefined
}
