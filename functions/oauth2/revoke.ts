import { revokeHandler } from '../../lib/server/oauth/revokehandler.ts'

export const handler = await revokeHandler()
