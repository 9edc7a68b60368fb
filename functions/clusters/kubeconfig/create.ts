import { ClusterKubeConfig } from '../../../lib/clusters/clusterkubeconfig.ts'
import { createVirtualHandler } from '../../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../../lib/server/handler.ts'

export const handler = await virtualHandler(ClusterKubeConfig, createVirtualHandler)
