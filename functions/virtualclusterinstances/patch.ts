import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { patchHandler } from '../../lib/engine/endpoints/handlers/patch.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(VirtualClusterInstance, patchHandler)
