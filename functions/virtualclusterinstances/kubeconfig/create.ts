import { VirtualClusterInstanceKubeConfig } from '../../../lib/apis/management/v1/virtualclusterinstancekubeconfig.ts'
import { virtualPipeline } from '../../../lib/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../../lib/server/handler.ts'

export const handler = virtualHandler(VirtualClusterInstanceKubeConfig, virtualPipeline)
