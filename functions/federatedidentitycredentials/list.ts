import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { FederatedIdentityCredential } from '../../lib/federation/federatedidentitycredential.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(FederatedIdentityCredential, listHandler)
