import { VirtualClusterInstance } from '../../lib/apis/management/v1/virtualclusterinstance.ts'
import { getPipeline } from '../../lib/endpoints/handlers/get.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = storedHandler(VirtualClusterInstance, getPipeline)
