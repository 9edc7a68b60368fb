import { revokeHandler } from '../../lib/server/oauth/revoke.ts'

export const handler = await revokeHandler()
