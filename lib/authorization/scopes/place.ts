/**
 * The places outside that take our users: connected clusters and virtual clusters. A place is written as the audience of
 * its tokens without the issuer, `clusters/NAME` or `virtualclusters/NAMESPACE/NAME/UID`.
 */
import type { Attributes, Decision, Target } from '../attributes/attributes.ts'
import { evaluateAny } from './evaluate.ts'
import { everyScopeAllows } from './everyscope.ts'
import { projectOf, type ScopeOptions } from './project.ts'
import type { ScopeChain } from './scope.ts'
import { type SpaceOptions, spaceOf } from './space.ts'

export type Place =
  | { type: 'cluster'; name: string }
  /** With the uid: what is for a deleted virtual cluster is nothing to the next one of its name. */
  | { type: 'virtualCluster'; namespace: string; name: string; uid: string }

/** The text of a place. */
export const formatPlace = (place: Place): string =>
  place.type === 'cluster' ? `clusters/${place.name}` : `virtualclusters/${place.namespace}/${place.name}/${place.uid}`

const LABEL = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `(?=[^/]{1,253}(?:/|$))${LABEL}(?:\\.${LABEL})*`
const CLUSTER = new RegExp(`^clusters/(?<name>${SUBDOMAIN})$`)
const VIRTUAL_CLUSTER = new RegExp(
  `^virtualclusters/(?<namespace>${LABEL})/(?<name>${SUBDOMAIN})/(?<uid>[-A-Za-z0-9]+)$`,
)

/** More than the longest names and a uid need. */
const MAX_LENGTH = 600

/** The place of a text; undefined for anything but what `formatPlace` makes of names that Kubernetes allows. */
export function parsePlace(text: string): Place | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const cluster = CLUSTER.exec(text)?.groups
  if (cluster) return { type: 'cluster', name: cluster.name ?? '' }
  const virtual = VIRTUAL_CLUSTER.exec(text)?.groups
  if (!virtual) return undefined
  const { namespace = '', name = '', uid = '' } = virtual
  return { type: 'virtualCluster', namespace, name, uid }
}

/** Where a request to this place goes. A virtual cluster outside of projects is in project '', which no list selects. */
export const targetOf = (place: Place, options: ScopeOptions): Target =>
  place.type === 'cluster'
    ? { type: 'Cluster', cluster: place.name }
    : {
        type: 'ProjectVirtualCluster',
        project: projectOf(place.namespace, options) ?? '',
        virtualCluster: place.name,
      }

/**
 * Whether the chain lets its holder do this at the place, where a token or a TokenReview has let them in. In a namespace
 * that is a space, each scope may allow it as a request to the cluster or as one to the space. What every scope allows
 * here (discovery, asking about oneself) no scope takes away there.
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

/** The space that a request at a connected cluster stays within. The namespace of a Namespace is its own name. */
function spaceAskedFor(attributes: Attributes, options: SpaceOptions): Target | undefined {
  if (attributes.kind === 'nonresource') return undefined
  const { group, resource, namespace, name } = attributes
  if (group === '' && resource === 'namespaces' && name !== namespace) return undefined
  const space = spaceOf(namespace, options)
  return space && { type: 'ProjectSpace', ...space }
}
