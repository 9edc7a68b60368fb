import { VirtualClusterInstance } from '../../lib/apis/management/v1/virtualclusterinstance.ts'
import { patchPipeline } from '../../lib/endpoints/handlers/patch.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = storedHandler(VirtualClusterInstance, patchPipeline)
