import { FederatedIdentityCredential } from '../../lib/apis/management/v1/federation/federatedidentitycredential.ts'
import { getHandler } from '../../lib/engine/endpoints/handlers/get.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(FederatedIdentityCredential, getHandler)
