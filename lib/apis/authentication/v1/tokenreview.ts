/**
 * Defines TokenReview, with which the authentication webhooks of clusters authenticate access keys (docs/clusters.md).
 * Clusters verify JWTs that this service issues themselves. Source: k8s.io/api authentication/v1.
 */

import { KINDS } from '../../../kinds/kinds.ts'
import { boolean, list, object, string } from '../../../meta/schema/schema.ts'
import type { VirtualKind } from '../../../registry/kind.ts'
import { message, textFields, texts } from '../../../registry/protobuf.ts'
import type { ReviewServices } from '../../authorization/v1/reviewservices.ts'
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
    // Discovery has no use for the rules of a place.
    const { reviewToken } = await import('./tokenreview.judge.ts')
    const status = await reviewToken(asked.spec ?? {}, context, services)
    context.note('review', status.authenticated === true ? 'authenticated' : 'not authenticated')
    return { ...asked, status }
  },
}
