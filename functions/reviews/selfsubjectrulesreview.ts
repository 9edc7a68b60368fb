import { SelfSubjectRulesReview } from '../../lib/apis/authorization/v1/selfsubjectrulesreview.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(SelfSubjectRulesReview, createVirtualHandler)
