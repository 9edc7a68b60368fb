import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { updateHandler } from '../../lib/engine/endpoints/handlers/update.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(VirtualClusterInstance, updateHandler)
