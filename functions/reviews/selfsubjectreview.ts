import { SelfSubjectReview } from '../../lib/apis/authentication/v1/selfsubjectreview.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(SelfSubjectReview, 'create')
