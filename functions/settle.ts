import { settleHandler } from '../lib/server/settle.ts'

export const handler = settleHandler()
