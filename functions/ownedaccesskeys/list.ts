import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(OwnedAccessKey, listHandler)
