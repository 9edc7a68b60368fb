import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { createHandler } from '../../lib/engine/endpoints/handlers/create.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(VirtualClusterInstance, createHandler)
