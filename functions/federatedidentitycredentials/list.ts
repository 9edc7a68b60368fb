import { FederatedIdentityCredential } from '../../lib/apis/management/v1/federation/federatedidentitycredential.ts'
import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(FederatedIdentityCredential, listHandler)
