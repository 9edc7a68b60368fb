import { SelfSubjectReview } from '../../lib/apis/authentication/v1/selfsubjectreview.ts'
import { virtualPipeline } from '../../lib/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = virtualHandler(SelfSubjectReview, virtualPipeline)
