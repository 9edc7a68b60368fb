import { sweepHandler } from '../lib/server/controllers.ts'

export const handler = sweepHandler()
