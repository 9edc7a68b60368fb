import { createHandler } from '../../lib/engine/endpoints/handlers/create.ts'
import { FederatedIdentityCredential } from '../../lib/federation/federatedidentitycredential.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(FederatedIdentityCredential, createHandler)
