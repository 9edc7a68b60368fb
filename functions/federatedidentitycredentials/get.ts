import { getHandler } from '../../lib/engine/endpoints/handlers/get.ts'
import { FederatedIdentityCredential } from '../../lib/federation/federatedidentitycredential.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(FederatedIdentityCredential, getHandler)
