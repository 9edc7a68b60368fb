import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { deletePipeline } from '../../lib/endpoints/handlers/delete.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = storedHandler(OwnedAccessKey, deletePipeline)
