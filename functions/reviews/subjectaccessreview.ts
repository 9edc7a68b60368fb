import { SubjectAccessReview } from '../../lib/apis/authorization/v1/subjectaccessreview.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(SubjectAccessReview, createVirtualHandler)
