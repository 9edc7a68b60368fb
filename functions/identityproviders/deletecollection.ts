import { deleteCollectionHandler } from '../../lib/engine/endpoints/handlers/delete.ts'
import { IdentityProvider } from '../../lib/federation/identityprovider.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(IdentityProvider, deleteCollectionHandler)
