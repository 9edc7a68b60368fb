import { SelfSubjectReview } from '../../lib/apis/authentication/v1/selfsubjectreview.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(SelfSubjectReview, createVirtualHandler)
