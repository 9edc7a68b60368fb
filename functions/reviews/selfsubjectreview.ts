import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { SelfSubjectReview } from '../../lib/reviews/selfsubjectreview.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(SelfSubjectReview, createVirtualHandler)
