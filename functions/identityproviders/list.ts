import { IdentityProvider } from '../../lib/apis/management/v1/federation/identityprovider.ts'
import { listHandler } from '../../lib/engine/endpoints/handlers/list.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = await storedHandler(IdentityProvider, listHandler)
