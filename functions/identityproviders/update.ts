import { IdentityProvider } from '../../lib/apis/management/v1/federation/identityprovider.ts'
import { updateHandler } from '../../lib/engine/endpoints/handlers/update.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(IdentityProvider, updateHandler)
