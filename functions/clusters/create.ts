import { Cluster } from '../../lib/clusters/cluster.ts'
import { createHandler } from '../../lib/engine/endpoints/handlers/create.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(Cluster, createHandler)
