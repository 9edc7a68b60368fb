import { Cluster } from '../../lib/apis/management/v1/cluster.ts'
import { getHandler } from '../../lib/engine/endpoints/handlers/get.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(Cluster, getHandler)
