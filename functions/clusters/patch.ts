import { Cluster } from '../../lib/clusters/cluster.ts'
import { patchHandler } from '../../lib/engine/endpoints/handlers/patch.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(Cluster, patchHandler)
