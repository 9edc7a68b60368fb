/**
 * Defines TokenReview, with which the authentication webhooks of clusters authenticate access keys (docs/clusters.md).
 * Clusters verify JWTs that this service issues themselves. Source: k8s.io/api authentication/v1.
 */

import {
  acceptsKeys,
  acceptsKeysAnywhere,
  acceptsKeysOfSpaces,
  mayReviewAt,
  namedPlaces,
  reviewAttributes,
} from '../access/review.ts'
import type { NamedPlace, Place } from '../access/scopes/place.ts'
import type { ScopeChain } from '../access/scopes/scope.ts'
import { NO_RIGHT } from '../access/users/reviewright.ts'
import { placeAudience, placeOfAudience } from '../clusters/token/audience.ts'
import { extrasOf } from '../clusters/token/extras.ts'
import { isVisibleUser, visibleGroups } from '../clusters/token/visibleuser.ts'
import { badRequest } from '../engine/meta/errors/status.ts'
import { boolean, list, object, string } from '../engine/meta/schema/schema.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { RequestContext, VirtualKind } from '../engine/registry/kind.ts'
import { message, textFields, texts } from '../engine/registry/protobuf.ts'
import { KINDS } from '../kinds.ts'
import { isOfCluster, type ReviewServices } from './reviewservices.ts'
import { userInfoSchema } from './selfsubjectreview.ts'

export const TokenReview: VirtualKind<ReviewServices> = {
  ...KINDS.TokenReview,
  description: 'Authenticates an access key. Connected clusters create it.',
  schema: {
    spec: object('The token to review.', {
      token: string('The token.', { writeOnly: 'once' }),
      audiences: list('Audiences that the token must be valid for.', string('An audience.')),
    }),
    status: object('Result of the review.', {
      authenticated: boolean('Whether the token is valid.'),
      user: userInfoSchema,
      audiences: list('The requested audiences that the token is valid for.', string('An audience.')),
      error: string('Why the token is invalid.'),
    }),
  },
  protobuf: { 2: message('spec', { ...textFields('token'), 2: texts('audiences') }) },
  async create({ object: asked, context }, services) {
    const status = await reviewToken(asked.spec ?? {}, context, services)
    context.note('review', status.authenticated === true ? 'authenticated' : 'not authenticated')
    return { ...asked, status }
  },
}

/** Status for every invalid token. It does not reveal the reason. */
const failed: JsonObject = { user: {}, error: 'invalid bearer token' }

const ambiguous =
  'the scope of the access key does not name exactly one cluster: name the calling cluster in spec.audiences, as ISSUER/clusters/NAME'

/**
 * Returns the place that the review is for: the one that the audiences name, if the caller may review tokens for it.
 * Without such an audience, it is the only place that the caller's scope names. Returns `anywhere` for administrators
 * who name no place: they want to know who owns the key.
 */
async function placeOf(
  audiences: readonly string[],
  { user, warn }: RequestContext,
  services: ReviewServices,
): Promise<Place | 'anywhere' | undefined> {
  const { issuer, scopes } = services
  const asked = audiences.flatMap((audience) => placeOfAudience(issuer, audience) ?? [])
  if (asked.length > 0) {
    const [first, ...others] = asked.filter((place) => mayReviewAt(user.chain, place, scopes))
    return others.length === 0 && first && (await exists(first, services)) ? first : undefined
  }
  if (user.chain.length === 0) return 'anywhere'
  const [first, ...others] = namedPlaces(user.chain, scopes)
  if (!first || others.length > 0) warn(ambiguous)
  return first && others.length === 0 ? identify(first, services) : undefined
}

async function exists(place: Place, services: ReviewServices): Promise<boolean> {
  return place.type === 'cluster' || (await services.instanceUid(place)) === place.uid
}

async function identify(place: NamedPlace, services: ReviewServices): Promise<Place | undefined> {
  if (place.type === 'cluster') return place
  const uid = await services.instanceUid(place)
  return uid === undefined ? undefined : { ...place, uid }
}

/** Reports whether the place accepts keys with this chain. `named` says that it identifies itself by an audience. */
const isTaken = (
  chain: ScopeChain,
  place: Place | 'anywhere',
  named: boolean,
  scopes: ReviewServices['scopes'],
): boolean =>
  place === 'anywhere'
    ? acceptsKeysAnywhere(chain)
    : acceptsKeys(chain, place, scopes) || (named && acceptsKeysOfSpaces(chain, place))

async function review(
  token: string,
  audiences: readonly string[],
  context: RequestContext,
  services: ReviewServices,
): Promise<JsonObject> {
  const { issuer, scopes } = services
  const place = await placeOf(audiences, context, services)
  if (place === undefined) return failed
  const isRecorded = place !== 'anywhere' && isOfCluster(context)
  // The cluster does not tell where the token came from, so a key that is limited to addresses is refused.
  const authentication = await services.authenticate(token, { writes: isRecorded })
  if (!('user' in authentication)) return failed
  const { user } = authentication
  const audience = place === 'anywhere' ? undefined : placeAudience(issuer, place)
  const named = audience !== undefined && audiences.includes(audience)
  if (!isTaken(user.chain, place, named, scopes) || !isVisibleUser(user.name)) return failed
  const asked = { isRecorded, ...(place !== 'anywhere' && { place }) }
  const { decision } = await services.admit(authentication, asked, 'tokenReview')
  if (!decision.allowed) return failed
  context.note('reviewedKey', user.key.name)
  return {
    authenticated: true,
    user: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      groups: visibleGroups(user.groups),
      extra: extrasOf(user, place === 'anywhere' ? undefined : place, context.now),
    },
    // Without audiences, the token is for the API server that asks, as in Kubernetes. Foreign audiences are never confirmed.
    ...(named && { audiences: [audience] }),
  }
}

/** Returns the status of the review: of no user if the caller may not create it. Throws 400 without a token. */
async function reviewToken(
  { token, audiences = [] }: { token?: string; audiences?: string[] },
  context: RequestContext,
  services: ReviewServices,
): Promise<JsonObject> {
  const mayAsk = await services.decide(context, reviewAttributes(KINDS.TokenReview, { type: 'Management' }))
  if (!mayAsk.allowed) {
    context.note('denial', mayAsk.reason)
    return { user: {}, error: NO_RIGHT }
  }
  if (!token) throw badRequest('token is required for TokenReview in authentication')
  return review(token, audiences, context, services)
}
