import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { SelfSubjectAccessReview } from '../../lib/reviews/selfsubjectaccessreview.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(SelfSubjectAccessReview, createVirtualHandler)
