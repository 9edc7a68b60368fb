import { IdentityProvider } from '../../lib/apis/management/v1/federation/identityprovider.ts'
import { getHandler } from '../../lib/engine/endpoints/handlers/get.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(IdentityProvider, getHandler)
