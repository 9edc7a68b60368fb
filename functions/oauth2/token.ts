import { tokenHandler } from '../../lib/server/oauth/tokenhandler.ts'

export const handler = await tokenHandler()
