import { bootstrap } from '../lib/server/bootstrap.ts'

export const handler = bootstrap()
