import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { getHandler } from '../../lib/engine/endpoints/handlers/get.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(VirtualClusterInstance, getHandler)
