import { SelfSubjectAccessReview } from '../../lib/apis/authorization/v1/selfsubjectaccessreview.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(SelfSubjectAccessReview, 'create')
