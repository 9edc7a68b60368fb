import { Cluster } from '../../lib/clusters/cluster.ts'
import { deleteCollectionHandler } from '../../lib/engine/endpoints/handlers/delete.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(Cluster, deleteCollectionHandler)
