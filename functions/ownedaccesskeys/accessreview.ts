import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { OwnedAccessKeyAccessReview } from '../../lib/reviews/ownedaccesskeyaccessreview.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(OwnedAccessKeyAccessReview, createVirtualHandler)
