import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { deleteHandler } from '../../lib/endpoints/handlers/delete.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(OwnedAccessKey, deleteHandler)
