import { FederatedIdentityCredential } from '../../lib/apis/management/v1/federation/federatedidentitycredential.ts'
import { deleteHandler } from '../../lib/engine/endpoints/handlers/delete.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(FederatedIdentityCredential, deleteHandler)
