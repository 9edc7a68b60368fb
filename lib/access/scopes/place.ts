/**
 * Defines the places where users of this API can act: connected clusters and virtual clusters. A place is written as
 * the audience of its tokens without the issuer: `clusters/NAME` or `virtualclusters/NAMESPACE/NAME/UID`.
 */
import type { Attributes, Decision, Target } from '../attributes/attributes.ts'
import { evaluateAny } from './evaluate.ts'
import { everyScopeAllows } from './everyscope.ts'
import { projectOf, type ScopeOptions } from './project.ts'
import type { ScopeChain } from './scope.ts'
import { type SpaceOptions, spaceOf } from './space.ts'

export type Place =
  | { type: 'cluster'; name: string }
  /**
   * Includes the uid, so that a credential for a deleted virtual cluster is not valid for a new one of the same name.
   */
  | { type: 'virtualCluster'; namespace: string; name: string; uid: string }

/** A place as scopes name it: without the uid of a virtual cluster. */
export type NamedPlace = { type: 'cluster'; name: string } | { type: 'virtualCluster'; namespace: string; name: string }

/** Returns the text form of a place. */
export const formatPlace = (place: Place): string =>
  place.type === 'cluster' ? `clusters/${place.name}` : `virtualclusters/${place.namespace}/${place.name}/${place.uid}`

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `(?=[^/]{1,253}(?:/|$))${LABEL}(?:\\.${LABEL})*`
const CLUSTER = new RegExp(`^clusters/(?<name>${SUBDOMAIN})$`)
const VIRTUAL_CLUSTER = new RegExp(
  `^virtualclusters/(?<namespace>${LABEL})/(?<name>${SUBDOMAIN})/(?<uid>[-A-Za-z0-9]+)$`,
)

/** Enough for the longest names and a uid. */
const MAX_LENGTH = 600

/**
 * Parses the text form of a place. Returns undefined for anything that `formatPlace` does not produce from valid
 * Kubernetes names.
 */
export function parsePlace(text: string): Place | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const cluster = CLUSTER.exec(text)?.groups
  if (cluster) return { type: 'cluster', name: cluster.name ?? '' }
  const virtual = VIRTUAL_CLUSTER.exec(text)?.groups
  if (!virtual) return undefined
  const { namespace = '', name = '', uid = '' } = virtual
  return { type: 'virtualCluster', namespace, name, uid }
}

/**
 * Returns the target of requests to this place. A virtual cluster outside of projects is in project '', which no list
 * selects.
 */
export const targetOf = (place: NamedPlace, options: ScopeOptions): Target =>
  place.type === 'cluster'
    ? { type: 'Cluster', cluster: place.name }
    : {
        type: 'ProjectVirtualCluster',
        project: projectOf(place.namespace, options) ?? '',
        virtualCluster: place.name,
      }

/**
 * Decides whether the chain allows this request at the place. The place has already authenticated the user by a token
 * or a TokenReview. In the namespace of a space, each scope may allow the request either to the cluster or to the
 * space. Scopes also always allow there what every scope allows here, such as discovery and self-reviews.
 */
export function evaluateAt(
  chain: ScopeChain,
  place: Place,
  attributes: Attributes,
  options: ScopeOptions & SpaceOptions,
): Decision {
  const whole: Attributes = { ...attributes, target: targetOf(place, options) }
  const space = place.type === 'cluster' ? spaceAskedFor(attributes, options) : undefined
  const decision = evaluateAny(chain, space ? [whole, { ...attributes, target: space }] : [whole], options)
  if (decision.allowed || !everyScopeAllows({ ...attributes, target: { type: 'Management' } })) return decision
  return { allowed: true, reason: 'every scope' }
}

/** Returns the space of a request to a connected cluster. The namespace of a Namespace object is its own name. */
function spaceAskedFor(attributes: Attributes, options: SpaceOptions): Target | undefined {
  if (attributes.kind === 'nonresource') return undefined
  const { group, resource, namespace, name } = attributes
  if (group === '' && resource === 'namespaces' && name !== namespace) return undefined
  const space = spaceOf(namespace, options)
  return space && { type: 'ProjectSpace', ...space }
}
