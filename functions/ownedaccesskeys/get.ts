import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { handler as serve } from '../../lib/server/handler.ts'

export const handler = serve(OwnedAccessKey, 'get')
