import { leakHandler } from '../lib/server/leaks/leakhandler.ts'

export const handler = await leakHandler()
