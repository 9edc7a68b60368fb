import { DirectClusterEndpointToken } from '../../lib/apis/management/v1/directclusterendpointtoken.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(DirectClusterEndpointToken, 'create')
