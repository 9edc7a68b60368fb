/**
 * Defines SubjectAccessReview. The authorization webhooks of clusters create it for users of this service
 * (docs/clusters.md), and administrators create it for users of this API. Source: k8s.io/api authorization/v1.
 */

import { KINDS } from '../../../kinds/kinds.ts'
import { list, map, object, string } from '../../../meta/schema/schema.ts'
import type { VirtualKind } from '../../../registry/kind.ts'
import { message, texts } from '../../../registry/protobuf.ts'
import { reviewStatus } from './answer.schema.ts'
import { nonResourceAttributes, resourceAttributes } from './attributes.schema.ts'
import { attributesProtobuf } from './attributes.ts'
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
    // Discovery has no use for the rules of a place.
    const { reviewSubject } = await import('./subjectaccessreview.judge.ts')
    return { ...review, status: await reviewSubject(review.spec ?? {}, context, services) }
  },
}
