import { deleteCollectionHandler } from '../../lib/engine/endpoints/handlers/delete.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(OwnedAccessKey, deleteCollectionHandler)
