import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(VirtualClusterInstance, listHandler)
