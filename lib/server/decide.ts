/**
 * Whether a user may do something here, for the reviews that ask: the same rules that requests meet, in the same order.
 * Scope chain, then system:masters, then ownership and access rules.
 */
import { group as managementGroup } from '../apis/management/v1/group.ts'
import type { Attributes, Decision, ResourceAttributes } from '../authorization/attributes/attributes.ts'
import { belowBase } from '../authorization/attributes/requestattributes.ts'
import { mayReview } from '../authorization/review.ts'
import { evaluate } from '../authorization/scopes/evaluate.ts'
import { everyScopeAllows } from '../authorization/scopes/everyscope.ts'
import type { ScopeOptions } from '../authorization/scopes/project.ts'
import { isMaster } from '../authorization/users/identity.ts'
import type { Access, RequestContext, StoredKind } from '../registry/kind.ts'
import { accessTo, accessToCreate, keyOf, type Store } from '../registry/store.ts'
import type { Storage } from '../storage/interface.ts'
import type { Config } from './process/config.ts'

/** What deciding needs of the server. */
export interface Decider<S> {
  config: Config
  scopes: ScopeOptions
  storage: Storage
  storedKinds: readonly StoredKind<S>[]
  storeOf(kind: StoredKind<S>): Store
}

/**
 * What every authenticated user may do whose scope leaves it: the create-only kinds that check what they are asked for, and
 * reading the namespaces, of which nothing is stored.
 */
const openToAll: ReadonlySet<string> = new Set([
  `create ${managementGroup}/directclusterendpointtokens`,
  'get /namespaces',
  'list /namespaces',
  'watch /namespaces',
])

const toDecision = (access: Access, reason: string): Decision =>
  access.type === 'allowed'
    ? { allowed: true, reason }
    : { allowed: false, reason: access.type === 'denied' ? access.reason : 'not visible to this user' }

/** The decision with its reason; reads at most the object that is named. A path may be asked for with the base or without. */
export async function decide<S>(server: Decider<S>, context: RequestContext, asked: Attributes): Promise<Decision> {
  const attributes: Attributes =
    asked.kind === 'nonresource' ? { ...asked, path: belowBase(asked.path, server.config.basePath) } : asked
  const byScope = evaluate(context.user.chain, attributes, server.scopes)
  if (!byScope.allowed) return byScope
  if (isMaster(context.user) && !byScope.own) return { allowed: true, reason: 'group system:masters' }
  if (everyScopeAllows(attributes)) return { allowed: true, reason: 'open to every authenticated user' }
  if (attributes.kind === 'nonresource') return { allowed: false, reason: 'not open to users' }
  const review = mayReview(context.user, attributes, server.scopes)
  if (review) return review
  return decideResource(server, context, attributes)
}

async function decideResource<S>(
  server: Decider<S>,
  context: RequestContext,
  attributes: ResourceAttributes,
): Promise<Decision> {
  const { group, resource, subresource, verb, name, namespace } = attributes
  const kind = server.storedKinds.find((one) => one.group === group && one.plural === resource)
  if (!kind) {
    return openToAll.has(`${verb} ${group}/${resource}`) && subresource === ''
      ? { allowed: true, reason: 'open to every authenticated user' }
      : { allowed: false, reason: 'not open to users' }
  }
  const store = server.storeOf(kind)
  if (verb === 'create' && subresource === '')
    return toDecision(accessToCreate(store, context), 'may create own objects')
  // A list of one name, by a field selector, is empty where there is no such object.
  const listed = subresource === '' && ['list', 'watch', 'deletecollection'].includes(verb)
  if (listed) return { allowed: true, reason: 'lists show what the user may see' }
  if (name !== '') {
    const stored = await server.storage.get(kind.table, keyOf(namespace, name))
    if (stored) return toDecision(accessTo(store, stored, verb, subresource, context), 'ownership or access rules')
    return { allowed: false, reason: 'not visible to this user' }
  }
  const ownable = subresource === '' && accessToCreate(store, context).type === 'allowed' && verb !== '*'
  return ownable ? { allowed: true, reason: 'for own objects' } : { allowed: false, reason: 'depends on the object' }
}
