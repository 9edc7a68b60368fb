/** What access reviews answer. Source: k8s.io/api authorization/v1 SubjectAccessReviewStatus. */
import { boolean, object, string } from '../../../meta/schema/schema.ts'

export const reviewStatus = object('The answer.', {
  allowed: boolean('Whether the request would be allowed.'),
  denied: boolean('Whether the request would be denied, whatever others say.'),
  reason: string('Why.'),
  evaluationError: string('What went wrong with the evaluation.'),
})
