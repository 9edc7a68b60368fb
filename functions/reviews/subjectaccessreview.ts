import { SubjectAccessReview } from '../../lib/apis/authorization/v1/subjectaccessreview.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(SubjectAccessReview, 'create')
