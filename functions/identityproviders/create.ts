import { createHandler } from '../../lib/engine/endpoints/handlers/create.ts'
import { IdentityProvider } from '../../lib/federation/identityprovider.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(IdentityProvider, createHandler)
