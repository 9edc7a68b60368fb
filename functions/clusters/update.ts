import { Cluster } from '../../lib/clusters/cluster.ts'
import { updateHandler } from '../../lib/engine/endpoints/handlers/update.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(Cluster, updateHandler)
