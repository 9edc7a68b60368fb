/**
 * Defines SubjectAccessReview. The authorization webhooks of clusters create it for users of this service
 * (docs/clusters.md), and administrators create it for users of this API. Source: k8s.io/api authorization/v1.
 */

import type { Attributes } from '../../../authorization/attributes/attributes.ts'
import { mayReviewAt, NO_RIGHT, reviewAttributes } from '../../../authorization/review.ts'
import { reasonWithEntry } from '../../../authorization/scoperefusal.ts'
import { evaluateAt, targetOf } from '../../../authorization/scopes/place.ts'
import type { ScopeChain } from '../../../authorization/scopes/scope.ts'
import { isMaster } from '../../../authorization/users/identity.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import { type Outsider, readExtras } from '../../../kubeconfig/token/extras.ts'
import { type FieldError, invalid } from '../../../meta/errors/fielderror.ts'
import { invalidObject } from '../../../meta/errors/status.ts'
import { dnsSubdomainErrors } from '../../../meta/object/names.ts'
import { list, map, object, string } from '../../../meta/schema/schema.ts'
import type { JsonObject } from '../../../meta/types.ts'
import type { RequestContext, VirtualKind } from '../../../registry/kind.ts'
import { message, texts } from '../../../registry/protobuf.ts'
import { reviewStatus } from './answer.schema.ts'
import { type AskedAttributes, nonResourceAttributes, resourceAttributes } from './attributes.schema.ts'
import { attributesProtobuf, toAttributes, validateAsked } from './attributes.ts'
import type { ReviewServices } from './reviewservices.ts'

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

const ENDED =
  'the access of the token was ended after it was issued: its access key was disabled, changed or reported as leaked. Get a new token'

/** No opinion: the answer does not allow or deny. It has no reason, because a cluster would repeat the reason in its own refusals. */
const noOpinion: JsonObject = { allowed: false }

/**
 * Denies a request that the scope chain does not allow, or that the key's current scopes do not allow since they were
 * narrowed. Denies every request of an invalid key, and of tokens from before its access was ended. The cluster decides all
 * other requests. What the key did there, and what its scopes refused, is recorded only if the caller is the cluster.
 */
async function judge(
  { key, chain, place, issuedAt }: Outsider,
  spec: ReviewSpec,
  context: RequestContext,
  services: ReviewServices,
): Promise<JsonObject> {
  const { scopes, usage } = services
  if (!mayReviewAt(context.user.chain, place, scopes))
    return denied('the access key of the caller may not review requests at this cluster')
  const attributes = toAttributes(spec, targetOf(place, scopes))
  const decide = (all: ScopeChain) => evaluateAt(all, place, attributes, scopes)
  const deny = (all: ScopeChain, reason: string) =>
    denied(reasonWithEntry(reason, all, attributes, { options: scopes, judge: decide }))
  // Do not look up an invalid name: the store rejects empty and long keys.
  const lookUp = async () => (dnsSubdomainErrors(key.name).length === 0 ? services.reviewedKey(key) : undefined)
  const isRecorded = context.user.mayReview === true && !context.dryRun
  const decision = decide(chain)
  if (!decision.allowed) {
    if (isRecorded) await usage.refused(key, chain, attributes, place, async () => (await lookUp()) !== undefined)
    return deny(chain, decision.reason)
  }
  const today = await lookUp()
  if (today === undefined) return denied('the access key no longer gives access')
  // A cluster that does not send the time of issue cannot distinguish these tokens, so all of them are invalid.
  if (issuedAt < (today.tokensNotBefore ?? 0)) return denied(ENDED)
  const narrowed = decide(today.chain)
  if (!narrowed.allowed) {
    if (isRecorded) await usage.refused(key, today.chain, attributes, place)
    return deny(today.chain, narrowed.reason)
  }
  if (isRecorded) await usage.used({ uid: key.uid, generation: today.generation }, today.chain, attributes, place)
  return noOpinion
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
