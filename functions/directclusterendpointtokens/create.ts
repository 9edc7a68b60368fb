import { DirectClusterEndpointToken } from '../../lib/apis/management/v1/directclusterendpointtoken.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(DirectClusterEndpointToken, createVirtualHandler)
