import { DirectClusterEndpointToken } from '../../lib/clusters/directclusterendpointtoken.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(DirectClusterEndpointToken, createVirtualHandler)
