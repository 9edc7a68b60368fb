import { SelfSubjectRulesReview } from '../../lib/apis/authorization/v1/selfsubjectrulesreview.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(SelfSubjectRulesReview, 'create')
