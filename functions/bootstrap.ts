import { bootstrapHandler } from '../lib/server/bootstrap.ts'

export const handler = bootstrapHandler()
