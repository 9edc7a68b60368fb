import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(OwnedAccessKey, listHandler)
