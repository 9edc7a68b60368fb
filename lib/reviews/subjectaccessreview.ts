/**
 * Defines SubjectAccessReview. The authorization webhooks of clusters create it for users of this service
 * (docs/clusters.md), and administrators create it for users of this API. Source: k8s.io/api authorization/v1.
 */

import type { Attributes } from '../access/attributes/attributes.ts'
import { mayReviewAt, reviewAttributes } from '../access/review.ts'
import { reasonWithEntry } from '../access/scoperefusal.ts'
import { evaluateAt, type Place, targetOf } from '../access/scopes/place.ts'
import { projectOf } from '../access/scopes/project.ts'
import type { ScopeChain } from '../access/scopes/scope.ts'
import { isMaster } from '../access/users/identity.ts'
import { NO_RIGHT } from '../access/users/reviewright.ts'
import type { UserInfo } from '../access/users/user.ts'
import { type Outsider, readExtras } from '../clusters/token/extras.ts'
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { invalidObject } from '../engine/meta/errors/status.ts'
import { dnsSubdomainErrors } from '../engine/meta/object/names.ts'
import { list, map, object, string } from '../engine/meta/schema/schema.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { RequestContext, VirtualKind } from '../engine/registry/kind.ts'
import { message, texts } from '../engine/registry/protobuf.ts'
import { admit, type Confirmed, confirmedBefore, type Subject } from '../keys/requests/admit.ts'
import { KINDS } from '../kinds.ts'
import { reviewStatus } from './answer.schema.ts'
import { type AskedAttributes, nonResourceAttributes, resourceAttributes } from './attributes.schema.ts'
import { attributesProtobuf, toAttributes, validateAsked } from './attributes.ts'
import { isOfCluster, type ReviewServices } from './reviewservices.ts'

export const SubjectAccessReview: VirtualKind<ReviewServices> = {
  ...KINDS.SubjectAccessReview,
  description: 'Checks whether a user may perform an action. Connected clusters create it for users of this service.',
  schema: {
    spec: object('The user and the action to check.', {
      resourceAttributes,
      nonResourceAttributes,
      user: string('Name of the user.'),
      groups: list('Groups of the user.', string('A group.')),
      extra: map(
        'Additional information about the user from the authenticator of the cluster.',
        list('Values.', string('A value.')),
      ),
      uid: string('Unique ID of the user.'),
    }),
    status: reviewStatus,
  },
  protobuf: {
    2: message('spec', {
      ...attributesProtobuf,
      3: { name: 'user', type: 'string' },
      4: texts('groups'),
      5: { name: 'extra', type: 'map' },
      6: { name: 'uid', type: 'string' },
    }),
  },
  async create({ object: review, context }, services) {
    return { ...review, status: await reviewSubject(review.spec ?? {}, context, services) }
  },
}

const { group, kind } = KINDS.SubjectAccessReview
const management = { type: 'Management' } as const

interface ReviewSpec extends AskedAttributes {
  user?: string
  groups?: string[]
  uid?: string
  extra?: Record<string, string[]>
}

function validate(spec: ReviewSpec): FieldError[] {
  const someone = spec.user || spec.groups?.length
  const why = 'at least one of user or group must be specified'
  return [...validateAsked(spec), ...(someone ? [] : [invalid('spec.user', spec.user ?? '', why)])]
}

/** Denies the request finally: the cluster asks no further authorizer. */
const denied = (reason: string): JsonObject => ({ allowed: false, denied: true, reason })

/** Says how to get another token: a client asks for none after a 403, so its token may have an older scope. */
function olderToken(place: Place, options: ReviewServices['scopes']): string {
  const target =
    place.type === 'cluster'
      ? `--cluster ${place.name}`
      : `--virtual-cluster ${projectOf(place.namespace, options) ?? 'PROJECT'}/${place.name}`
  return `; if the scope of the access key has it by now, the token is older: keyplane credential --refresh ${target}`
}

const ENDED =
  'the access of the token was ended after it was issued: its access key was disabled, changed or reported as leaked. Get a new token'

/** No opinion: the answer does not allow or deny. It has no reason, because a cluster would repeat the reason in its own refusals. */
const noOpinion: JsonObject = { allowed: false }

/** The key of a token, as the cluster passes it on. */
interface KeyOfToken extends Subject {
  user: Pick<Outsider, 'key' | 'chain'>
  place: Place
  /** Unix seconds. */
  issuedAt: number
}

/** Reads what the key allows now. Denies tokens from before the access of the key was ended. */
async function confirm({ user: { key }, place, issuedAt }: KeyOfToken, services: ReviewServices): Promise<Confirmed> {
  // Do not look up an invalid name: the store rejects empty and long keys.
  const today = dnsSubdomainErrors(key.name).length === 0 ? await services.reviewedKey(key, place) : undefined
  if (today === undefined) return { ended: { dead: 'the access key no longer gives access' } }
  const { chain, generation, tokensNotBefore = 0 } = today
  const user = { key: { uid: key.uid, generation }, chain }
  // A cluster that does not send the time of issue cannot distinguish these tokens, so all of them are invalid.
  return issuedAt < tokensNotBefore ? { user, ended: { dead: ENDED } } : { user }
}

/**
 * Denies a request that the scope chain does not allow, or that the key's current scopes do not allow since they were
 * narrowed. Denies every request of an invalid key, and of tokens from before its access was ended. The cluster decides all
 * other requests. What the key did there, and what its scopes refused, is recorded only if the caller is the cluster.
 */
async function judge(
  { place, issuedAt, ...user }: Outsider,
  spec: ReviewSpec,
  context: RequestContext,
  services: ReviewServices,
): Promise<JsonObject> {
  const { scopes } = services
  if (!mayReviewAt(context.user.chain, place, scopes))
    return denied('the access key of the caller may not review requests at this cluster')
  const attributes = toAttributes(spec, targetOf(place, scopes))
  const asked = { attributes, place, isRecorded: isOfCluster(context) }
  const { decision, chain, ended } = await admit({ user, place, issuedAt }, asked, 'accessReview', {
    ...confirmedBefore(services),
    confirm: (token: KeyOfToken) => confirm(token, services),
  })
  if (decision.allowed) return noOpinion
  const judgeAgain = (all: ScopeChain) => evaluateAt(all, place, attributes, scopes)
  const reason = reasonWithEntry(decision.reason, chain, attributes, { options: scopes, judge: judgeAgain })
  return denied(chain === user.chain && !ended ? `${reason}${olderToken(place, scopes)}` : reason)
}

/** Returns how this API would decide the request if the user sent it with an access key without a scope. */
async function judgeHere(
  { user = '', groups = [], uid }: ReviewSpec,
  attributes: Attributes,
  context: RequestContext,
  services: ReviewServices,
): Promise<JsonObject> {
  const somebody: UserInfo = {
    name: user,
    groups,
    key: { name: '', uid: '', type: '' },
    chain: [],
    ...(uid !== undefined && { uid }),
  }
  const { allowed, reason } = await services.decide({ ...context, user: somebody }, attributes)
  return { allowed, reason }
}

/** Returns the status of the review: a denial if the caller may not create it. Throws 422 for an invalid spec. */
async function reviewSubject(spec: ReviewSpec, context: RequestContext, services: ReviewServices): Promise<JsonObject> {
  const mayAsk = await services.decide(context, reviewAttributes(KINDS.SubjectAccessReview, management))
  if (!mayAsk.allowed) {
    // An error would be no opinion at a cluster with another failurePolicy, and its RBAC would allow what the scopes do not.
    context.note('review', 'denied')
    context.note('denial', mayAsk.reason)
    return denied(NO_RIGHT)
  }
  const errors = validate(spec)
  if (errors.length > 0) throw invalidObject(group, kind, '', errors)
  const outsider = readExtras(spec.extra ?? {})
  if (outsider !== undefined) {
    const status = 'problem' in outsider ? denied(outsider.problem) : await judge(outsider, spec, context, services)
    context.note('review', status === noOpinion ? 'no opinion' : 'denied')
    if ('key' in outsider) context.note('reviewedKey', outsider.key.name)
    return status
  }
  // A caller that asks for a cluster learns nothing about other users: the cluster authenticated them itself.
  if (context.user.chain.length > 0 || !isMaster(context.user)) return noOpinion
  return judgeHere(spec, toAttributes(spec, management), context, services)
}
