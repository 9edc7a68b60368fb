import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { deleteHandler } from '../../lib/engine/endpoints/handlers/delete.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(VirtualClusterInstance, deleteHandler)
