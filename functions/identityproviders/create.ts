import { IdentityProvider } from '../../lib/apis/management/v1/federation/identityprovider.ts'
import { createHandler } from '../../lib/engine/endpoints/handlers/create.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(IdentityProvider, createHandler)
