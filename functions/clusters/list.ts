import { Cluster } from '../../lib/clusters/cluster.ts'
import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(Cluster, listHandler)
