import { tokenHandler } from '../../lib/server/exchange/tokenhandler.ts'

export const handler = await tokenHandler()
