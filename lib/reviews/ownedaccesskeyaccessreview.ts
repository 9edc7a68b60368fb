/**
 * Defines OwnedAccessKeyAccessReview, which says whether a request with an access key would be allowed, and why: reads the key, and judges
 * the request step by step, in the order of the real decision.
 */

import type { Decision } from '../access/attributes/attributes.ts'
import { broaderEntry, judgeEach, missingEntry } from '../access/missingentry.ts'
import { evaluate } from '../access/scopes/evaluate.ts'
import { makesClusterToken } from '../access/scopes/reachableclusters.ts'
import type { Scope } from '../access/scopes/scope.ts'
import { isMaster, ownIdentities } from '../access/users/identity.ts'
import type { UserInfo } from '../access/users/user.ts'
import { invalid } from '../engine/meta/errors/fielderror.ts'
import { invalidObject } from '../engine/meta/errors/status.ts'
import type { JsonObject, KubeObject } from '../engine/meta/types.ts'
import type { RequestContext, VirtualKind, VirtualRequest } from '../engine/registry/kind.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { type Credential, credentialOf, credentialUser } from '../keys/credential/credential.ts'
import { decodeKeyInternal } from '../keys/credential/keyinternal.ts'
import { lifeOfStored } from '../keys/credential/keystatus.ts'
import { readReviewedKey } from '../keys/ownedaccesskey.subresources.ts'
import { sourceRefusal } from '../keys/requests/authenticate.ts'
import { valuesOf } from '../keys/values/keyvalues.ts'
import { KINDS } from '../kinds.ts'
import { spec, status } from './ownedaccesskeyaccessreview.schema.ts'
import { type Asked, type ReviewSpec, readAsked, validateSpec } from './reviewedrequest.ts'
import type { AccessReviewServices } from './reviewservices.ts'

const { group, kind, subresource } = KINDS.OwnedAccessKeyAccessReview

export const OwnedAccessKeyAccessReview: VirtualKind<AccessReviewServices> = {
  ...KINDS.OwnedAccessKeyAccessReview,
  description: 'Says whether a request with an access key would be allowed, with every step of the decision.',
  // Without a misspelled target, the answer would be about this API.
  grantsAccess: true,
  schema: { spec, status },
  create: reviewAccess,
}

/** Returns the review with its status. Throws 403, 404 or 422. */
async function reviewAccess(
  { object: review, name, context }: VirtualRequest,
  services: AccessReviewServices,
): Promise<KubeObject> {
  const stored = await readReviewedKey({ name, subresource, verb: 'create' }, context, services)
  const asked = (review.spec ?? {}) as ReviewSpec
  const given = review.metadata.name
  const misnamed = given !== undefined && given !== name
  const errors = [
    ...(misnamed ? [invalid('metadata.name', given, 'must match the access key name if specified')] : []),
    ...validateSpec(asked, services.scopes),
  ]
  if (errors.length > 0) throw invalidObject(group, kind, name, errors)
  const request = readAsked(asked, services.scopes, services.pathBelowBase)
  const steps = await reviewSteps(stored, request, { sourceIP: asked.sourceIP || undefined, context, services })
  const status = summarize(steps, request.isHere)
  context.note('reviewedKey', name)
  context.note('review', status.allowed ? 'allowed' : 'denied')
  const { uid } = stored.object.metadata
  return { ...review, metadata: { ...review.metadata, name, ...(uid && { uid }) }, status }
}

/** Returns the status. A request whose rights could not be checked is not allowed, except where a cluster checks them. */
function summarize(steps: readonly Step[], isHere: boolean): JsonObject {
  const refusing =
    steps.find(({ allowed }) => allowed === false) ??
    steps.find(({ check, allowed }) => isHere && check === 'rights' && allowed === undefined)
  const deciding = steps.filter(({ check }) => check === 'scope' || check === 'rights')
  return {
    allowed: refusing === undefined,
    reason: refusing?.reason ?? deciding.map(({ reason }) => reason).join('; '),
    steps: steps as unknown as JsonObject[],
  }
}

interface Step {
  check: 'life' | 'source' | 'scope' | 'rights'
  /** Absent if the check could not be made. */
  allowed?: boolean
  entry?: Scope
  reason: string
}

interface Review {
  sourceIP: string | undefined
  /** The request for the review, with the user who asks. */
  context: RequestContext
  services: AccessReviewServices
}

/** Returns every step, also those after the first that refuses. */
async function reviewSteps(stored: Stored, asked: Asked, review: Review): Promise<Step[]> {
  const { credential, expires, life } = await judgeLife(stored, asked, review.services)
  const user = credentialUser(credential, { expires })
  const decision = asked.judge(user.chain)
  return [
    life,
    judgeSource(credential, asked, review.sourceIP),
    judgeScope(stored, user, { decision, asked, services: review.services }),
    await judgeRights(user, { decision, asked, review }),
  ]
}

/**
 * Judges whether a value of the key gives access, and returns what its credential says. For a target the row decides: tokens
 * of the key work there, whatever becomes of the value that made them.
 */
async function judgeLife(
  stored: Stored,
  { isHere, place }: Asked,
  services: AccessReviewServices,
): Promise<{ credential: Credential; expires?: number; life: Step }> {
  const { name = '', uid = '' } = stored.object.metadata
  const internal = decodeKeyInternal(stored.internal)
  const values = valuesOf(internal).map(({ credential }) => credential)
  const hashes = values.length > 0 ? values : [internal.credential]
  const judgements = await Promise.all(hashes.map((hash) => services.judgeValue(hash)))
  const alive = judgements.find((one) => 'credential' in one)
  const [first] = judgements
  const dead = first && 'dead' in first ? first.dead : 'the access key has no value that gives access'
  const isAlive = isHere ? alive !== undefined : (await services.reviewedKey({ name, uid }, place)) !== undefined
  const life: Step = { check: 'life', allowed: isAlive, reason: isAlive ? 'the access key gives access' : dead }
  if (alive) return { ...alive, life }
  const { lastActivity } = lifeOfStored(stored)
  return { credential: credentialOf(stored.object, internal, lastActivity), life }
}

function judgeSource(credential: Credential, { isHere }: Asked, sourceIP: string | undefined): Step {
  const { sourceCIDRs } = credential
  const check = 'source'
  if (!isHere) return { check, allowed: true, reason: 'clusters do not check spec.sourceCIDRs' }
  if (sourceCIDRs === undefined)
    return { check, allowed: true, reason: 'spec.sourceCIDRs does not limit the access key' }
  if (sourceIP === undefined)
    return {
      check,
      reason: `not checked without spec.sourceIP: the access key is limited to ${sourceCIDRs.join(', ')}`,
    }
  const refusal = sourceRefusal(credential, { ip: sourceIP })
  return { check, allowed: refusal === undefined, reason: refusal ?? 'spec.sourceCIDRs' }
}

const INHERITED = 'the access key inherited this scope, so nobody can change it'
const ADDED = 'a change of the access key added this scope, and spec.dropAddedScopes drops it'

function judgeScope(
  stored: Stored,
  { chain }: UserInfo,
  { decision, asked, services }: { decision: Decision; asked: Asked; services: AccessReviewServices },
): Step {
  const { allowed } = decision
  if (allowed) return { check: 'scope', allowed, reason: decision.reason }
  const refusal = judgeEach(chain, asked.judge)
  const [first = -1] = refusal.refusing
  // The inherited scopes come first. A scope of the key itself that equals one of them is not repeated.
  const { carried, born = carried.length } = decodeKeyInternal(stored.internal)
  const who = first < born ? INHERITED : first < carried.length ? ADDED : undefined
  const { attributes } = asked
  const missing = missingEntry(chain, attributes, services.scopes, refusal)
  const keyName = stored.object.metadata.name ?? ''
  // A rule would allow a token as well, but the cluster is not in it.
  const entry =
    missing && makesClusterToken(attributes)
      ? broaderEntry(chain, missing, { attributes, keyName, options: services.scopes })?.entry
      : missing?.exact
  return {
    check: 'scope',
    allowed,
    ...(entry && { entry }),
    reason: who ? `${decision.reason}; ${who}` : decision.reason,
  }
}

/** Judges what follows the scope. If the scope refuses, the other rules are judged as for a key without one. */
async function judgeRights(
  user: UserInfo,
  { decision, asked, review }: { decision: Decision; asked: Asked; review: Review },
): Promise<Step> {
  const check = 'rights'
  const { context, services } = review
  if (!asked.isHere) return { check, reason: 'the cluster decides by its own RBAC' }
  if (!(await mayLearn(user, asked, review)))
    return { check, reason: 'not checked: it depends on an object that you may not see' }
  const chain = decision.allowed ? user.chain : []
  const { allowed, reason } = await services.decide({ ...context, user: { ...user, chain } }, asked.attributes)
  return { check, allowed, reason }
}

/**
 * Reports whether the user who asks may learn how an object decides the request. They could make it themselves, owning no
 * less and within their own scopes, or they may read the object.
 */
async function mayLearn(user: UserInfo, { attributes }: Asked, { context, services }: Review): Promise<boolean> {
  if (attributes.kind === 'nonresource' || attributes.name === '') return true
  const { user: asker } = context
  if (ownsNoLess(asker, user) && evaluate(asker.chain, attributes, services.scopes).allowed) return true
  return (await services.decide(context, { ...attributes, verb: 'get', subresource: '' })).allowed
}

/** Reports whether `one` owns everything that `other` owns. Other groups than teams and system:masters decide nothing here. */
const ownsNoLess = (one: UserInfo, other: UserInfo): boolean =>
  isMaster(one) || ownIdentities(other).every((identity) => ownIdentities(one).includes(identity))
