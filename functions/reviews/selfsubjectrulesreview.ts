import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { SelfSubjectRulesReview } from '../../lib/reviews/selfsubjectrulesreview.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(SelfSubjectRulesReview, createVirtualHandler)
