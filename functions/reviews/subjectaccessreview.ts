import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { SubjectAccessReview } from '../../lib/reviews/subjectaccessreview.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(SubjectAccessReview, createVirtualHandler)
