import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { TokenReview } from '../../lib/reviews/tokenreview.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(TokenReview, createVirtualHandler)
