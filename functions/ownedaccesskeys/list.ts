import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { listPipeline } from '../../lib/endpoints/handlers/collection.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = storedHandler(OwnedAccessKey, listPipeline)
