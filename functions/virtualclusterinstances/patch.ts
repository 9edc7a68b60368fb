import { VirtualClusterInstance } from '../../lib/apis/management/v1/virtualclusterinstance.ts'
import { patchHandler } from '../../lib/engine/endpoints/handlers/patch.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(VirtualClusterInstance, patchHandler)
