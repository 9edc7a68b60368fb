import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { getHandler } from '../../lib/engine/endpoints/handlers/get.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(OwnedAccessKey, getHandler)
