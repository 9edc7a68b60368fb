import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { createHandler } from '../../lib/engine/endpoints/handlers/create.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(OwnedAccessKey, createHandler)
