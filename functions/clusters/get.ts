import { Cluster } from '../../lib/clusters/cluster.ts'
import { getHandler } from '../../lib/engine/endpoints/handlers/get.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(Cluster, getHandler)
