import { DirectClusterEndpointToken } from '../../lib/apis/management/v1/directclusterendpointtoken.ts'
import { virtualPipeline } from '../../lib/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = virtualHandler(DirectClusterEndpointToken, virtualPipeline)
