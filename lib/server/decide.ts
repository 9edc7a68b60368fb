/**
 * Decides for access reviews whether a user may perform a request on this API. It applies the rules for requests in the
 * same order: scope chain, system:masters, then ownership and access rules.
 */

import type { Attributes, Decision, ResourceAttributes } from '../access/attributes/attributes.ts'
import { belowBase } from '../access/attributes/requestattributes.ts'
import { everyScopeAllows } from '../access/scopes/everyscope.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import { isKeyReview } from '../access/scopes/roles.ts'
import type { SpaceOptions } from '../access/scopes/space.ts'
import { isMaster } from '../access/users/identity.ts'
import { mayReview } from '../access/users/reviewright.ts'
import { formatValue } from '../engine/meta/encoding/badvalue.ts'
import type { Access, RequestContext, StoredKind } from '../engine/registry/kind.ts'
import { accessTo, accessToCreate, objectKey, type Store } from '../engine/registry/store.ts'
import type { Storage } from '../engine/storage/interface.ts'
import { admit, confirmedBefore } from '../keys/requests/admit.ts'
import type { UsageRecorder } from '../keys/usage/recorder.ts'
import { creatorsOf } from '../kinds.ts'
import { resourceVerbs } from '../reviews/resourceverbs.ts'
import type { Config } from './process/config.ts'

/** The parts of the server that `decide` uses. */
export interface Decider<S> {
  config: Config
  scopes: ScopeOptions & SpaceOptions
  usage: UsageRecorder
  storage: Storage
  /** Loads the stored kinds. Most requests need only their own. */
  storedKinds(): Promise<readonly StoredKind<S>[]>
  storeOf(kind: StoredKind<S>): Store
}

/**
 * Reports whether every authenticated user may make the request within their scope: for kinds that check each request themselves,
 * and for namespaces, which are not stored: writes change nothing.
 */
function isOpenToAll({ verb, group, resource, subresource }: ResourceAttributes): boolean {
  if (subresource !== '') return false
  if (group === '' && resource === 'namespaces') return NAMESPACE_VERBS.includes(verb)
  return verb === 'create' && creatorsOf({ group, resource }) === 'every user'
}

const NAMESPACE_VERBS: readonly string[] = ['create', 'patch', 'update', 'get', 'list', 'watch']

const toDecision = (access: Access, reason: string): Decision =>
  access.type === 'allowed'
    ? { allowed: true, reason }
    : { allowed: false, reason: access.type === 'denied' ? access.reason : 'not visible to this user' }

/**
 * Returns the decision and its reason. Reads at most the named object. Accepts paths with or without the base path. A
 * decision with `self` is about the access key of the request, because the request names no object and the scope allows
 * it for that key only.
 */
export async function decide<S>(server: Decider<S>, context: RequestContext, given: Attributes): Promise<Decision> {
  const attributes: Attributes =
    given.kind === 'nonresource' ? { ...given, path: belowBase(given.path, server.config.basePath) } : given
  const asked = { attributes, isRecorded: false }
  const { decision: byScope } = await admit(context, asked, 'question', confirmedBefore(server))
  if (!byScope.allowed) return byScope
  // Even for an administrator, a scope decides which keys it may review.
  const isUnlimited = !byScope.own && !(context.user.chain.length > 0 && isKeyReview(attributes))
  if (isMaster(context.user) && isUnlimited) return { allowed: true, reason: 'group system:masters' }
  if (everyScopeAllows(attributes)) return { allowed: true, reason: 'open to every authenticated user' }
  if (attributes.kind === 'nonresource') return { allowed: false, reason: 'not open to users' }
  const review = mayReview(context.user, attributes, server.scopes)
  if (review) return review
  if (!byScope.self || attributes.name !== '') return decideResource(server, context, attributes)
  const decision = await decideResource(server, context, { ...attributes, name: context.user.key.name })
  return decision.allowed ? { ...decision, self: true } : decision
}

/** Reports whether the resource has the verb. `*` stands for those that it has. Rules of ownership judge any verb, also what is none. */
function isVerbOf({ schema }: Pick<StoredKind, 'schema'>, { verb, group, resource, subresource }: ResourceAttributes) {
  const asked = resourceVerbs.find(
    ({ kind, ...of }) => kind.group === group && kind.plural === resource && of.subresource === subresource,
  )
  if (asked === undefined) return false
  // Access entries have a verb that no request has.
  const isUse = verb === 'use' && subresource === '' && 'access' in schema.spec.properties
  return isUse || verb === '*' || asked.verbs.includes(verb)
}

async function decideResource<S>(
  server: Decider<S>,
  context: RequestContext,
  attributes: ResourceAttributes,
): Promise<Decision> {
  const { group, resource, subresource, verb, name, namespace } = attributes
  const kinds = await server.storedKinds()
  const kind = kinds.find((one) => one.group === group && one.plural === resource)
  if (!kind) {
    return isOpenToAll(attributes)
      ? { allowed: true, reason: 'open to every authenticated user' }
      : { allowed: false, reason: 'not open to users' }
  }
  if (!isVerbOf(kind, attributes)) return { allowed: false, reason: `the resource has no verb ${formatValue(verb)}` }
  const store = server.storeOf(kind)
  if (verb === 'create' && subresource === '')
    return toDecision(accessToCreate(store, context), 'may create own objects')
  // Lists are always allowed: a list of one name, by a field selector, is empty if the user may not see the object.
  const listed = subresource === '' && ['list', 'watch', 'deletecollection'].includes(verb)
  if (listed) return { allowed: true, reason: 'lists show what the user may see' }
  if (name !== '') {
    const stored = await server.storage.get(kind.table, objectKey(namespace, name))
    if (stored) return toDecision(accessTo(store, stored, verb, subresource, context), 'ownership or access rules')
    return { allowed: false, reason: 'not visible to this user' }
  }
  const ownable = subresource === '' && accessToCreate(store, context).type === 'allowed' && verb !== '*'
  return ownable ? { allowed: true, reason: 'for own objects' } : { allowed: false, reason: 'depends on the object' }
}
