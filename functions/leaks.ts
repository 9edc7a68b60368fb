import { leakHandler } from '../lib/server/leaks/answerreport.ts'

export const handler = await leakHandler()
