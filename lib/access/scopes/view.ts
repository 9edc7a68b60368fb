/**
 * Defines the role view: it turns what the lists of its scope name into places where its holder may only read. Reading never acts, and shows no
 * Secrets: `exec`, `attach`, `portforward` and `proxy` are GETs that act, so of subresources only three are read.
 */
import type { Attributes } from '../attributes/attributes.ts'
import { DISCOVERY } from './everyscope.ts'
import type { Scope } from './scope.ts'

export const VIEW = 'view'

/** Reports whether the entry of a list of roles is that of the role. */
export const isView = ({ role }: { role?: string }): boolean => role === VIEW

/** Reports whether the scope has the role, so that its other lists only say where it holds. Entries of rules stay what they are. */
export const hasView = ({ roles = [] }: Scope): boolean => roles.some(isView)

const READS: readonly string[] = ['get', 'list', 'watch']
const SUBRESOURCES: readonly string[] = ['', 'status', 'scale']

/** Reports whether the role allows a request inside a connected cluster, a virtual cluster or a space. */
export function isViewed(attributes: Attributes): boolean {
  if (attributes.kind === 'nonresource')
    return ['get', 'head'].includes(attributes.verb) && DISCOVERY.test(attributes.path)
  const { verb, group, resource, subresource } = attributes
  if (!READS.includes(verb) || resource === 'secrets' || isWide(group, resource, subresource)) return false
  // KubeVirt and others serve consoles and port forwards in such groups.
  if (group.startsWith('subresources.')) return false
  return SUBRESOURCES.includes(subresource) || (group === '' && resource === 'pods' && subresource === 'log')
}

/** A review may ask about all groups, resources or subresources at once, and Secrets are among them. */
const isWide = (...texts: readonly string[]): boolean => texts.includes('*')
