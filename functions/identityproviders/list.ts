import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { IdentityProvider } from '../../lib/federation/identityprovider.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(IdentityProvider, listHandler)
