import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { updateHandler } from '../../lib/engine/endpoints/handlers/update.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(OwnedAccessKey, updateHandler)
