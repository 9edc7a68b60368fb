import { TokenReview } from '../../lib/apis/authentication/v1/tokenreview.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(TokenReview, createVirtualHandler)
