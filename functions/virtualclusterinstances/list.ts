import { VirtualClusterInstance } from '../../lib/apis/management/v1/virtualclusterinstance.ts'
import { listPipeline } from '../../lib/endpoints/handlers/collection.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = storedHandler(VirtualClusterInstance, listPipeline)
