/** Defines the status of access reviews. Source: k8s.io/api authorization/v1 SubjectAccessReviewStatus. */
import { boolean, object, string } from '../engine/meta/schema/schema.ts'

export const reviewStatus = object('Result of the review.', {
  allowed: boolean('Whether the request would be allowed.'),
  denied: boolean('Whether the request would be denied, regardless of other authorizers.'),
  reason: string('Why the request was allowed or denied.'),
  evaluationError: string('Error that occurred during the evaluation.'),
})
