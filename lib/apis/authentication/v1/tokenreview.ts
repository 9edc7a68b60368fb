/**
 * Whose token is this? Asked by the authentication webhook of clusters about access keys (docs/clusters.md). Tokens of
 * ours that are JWTs need no question: clusters verify them. Source: k8s.io/api authentication/v1.
 */
import { forbiddenFor } from '../../../authorization/attributes/forbidden.ts'
import {
  acceptsKeys,
  acceptsKeysAnywhere,
  acceptsKeysOfSpaces,
  mayReviewAt,
  type NamedPlace,
  namedPlaces,
  reviewAttributes,
} from '../../../authorization/review.ts'
import type { Place } from '../../../authorization/scopes/place.ts'
import { badRequest } from '../../../meta/errors/status.ts'
import { boolean, list, object, string } from '../../../meta/schema/schema.ts'
import type { JsonObject } from '../../../meta/types.ts'
import type { RequestContext, VirtualKind } from '../../../registry/kind.ts'
import { placeAudience, placeOfAudience } from '../../../token/audience.ts'
import { extrasOf } from '../../../token/extras.ts'
import { mayLeave, outsideGroups } from '../../../token/identity.ts'
import type { ReviewServices } from '../../authorization/v1/services.ts'
import { userInfoSchema } from './selfsubjectreview.ts'

/** All that is said of a token that is not taken, whatever the reason. */
const failed: JsonObject = { user: {}, error: 'invalid bearer token' }

const ambiguous =
  'the scope of the access key used does not name the one cluster that asks: name it in spec.audiences, as ISSUER/clusters/NAME'

/**
 * The place that asks: the one that the audiences name, if the caller may ask for it, else the only one that the scope
 * of the caller names. `anywhere` for administrators who name none: they ask whose key it is.
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
  return first && others.length === 0 ? identified(first, services) : undefined
}

async function exists(place: Place, services: ReviewServices): Promise<boolean> {
  return place.type === 'cluster' || (await services.instanceUid(place)) === place.uid
}

async function identified(place: NamedPlace, services: ReviewServices): Promise<Place | undefined> {
  if (place.type === 'cluster') return place
  const uid = await services.instanceUid(place)
  return uid === undefined ? undefined : { ...place, uid }
}

async function review(
  token: string,
  audiences: readonly string[],
  context: RequestContext,
  services: ReviewServices,
): Promise<JsonObject> {
  const { issuer, scopes } = services
  const place = await placeOf(audiences, context, services)
  if (place === undefined) return failed
  const authentication = await services.authenticate(token)
  if (!('user' in authentication)) return failed
  const { user, touch } = authentication
  const audience = place === 'anywhere' ? undefined : placeAudience(issuer, place)
  const named = audience !== undefined && audiences.includes(audience)
  const taken =
    place === 'anywhere'
      ? acceptsKeysAnywhere(user.chain)
      : acceptsKeys(user.chain, place, scopes) || (named && acceptsKeysOfSpaces(user.chain, place))
  if (!taken || !mayLeave(user.name)) return failed
  if (!context.dryRun) await touch()
  context.note('reviewedKey', user.key.name)
  return {
    authenticated: true,
    user: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      groups: outsideGroups(user.groups),
      extra: extrasOf(user, place === 'anywhere' ? undefined : place),
    },
    // Without one the token is for the API server that asks, in Kubernetes' words; never for an audience that is not ours.
    ...(named && { audiences: [audience] }),
  }
}

export const TokenReview: VirtualKind<ReviewServices> = {
  archetype: 'virtual',
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  singular: 'tokenreview',
  scope: 'Cluster',
  description: 'Whose access key a token is: asked by connected clusters.',
  schema: {
    spec: object('What is asked.', {
      token: string('The token.', { writeOnly: 'once' }),
      audiences: list('Whom the token should be for.', string('An audience.')),
    }),
    status: object('The answer.', {
      authenticated: boolean('Whether the token is one that is taken.'),
      user: userInfoSchema,
      audiences: list('Those of the asked audiences that the token is for.', string('An audience.')),
      error: string('Why the token is not taken.'),
    }),
  },
  protobuf: {
    2: {
      name: 'spec',
      type: 'message',
      fields: { 1: { name: 'token', type: 'string' }, 2: { name: 'audiences', type: 'strings' } },
    },
  },
  async create({ object: asked, context }, services) {
    const asking = reviewAttributes('tokenreviews', { type: 'Management' })
    const mayAsk = await services.decide(context, asking)
    if (!mayAsk.allowed) throw forbiddenFor(asking, context.user, mayAsk.reason)
    const { token, audiences = [] } = (asked.spec ?? {}) as { token?: string; audiences?: string[] }
    if (!token) throw badRequest('token is required for TokenReview in authentication')
    const status = await review(token, audiences, context, services)
    context.note('review', status.authenticated === true ? 'authenticated' : 'not authenticated')
    return { ...asked, status }
  },
}
