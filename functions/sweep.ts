import { sweep } from '../lib/server/controllers.ts'

export const handler = sweep()
