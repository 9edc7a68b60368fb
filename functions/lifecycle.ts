import { lifecycleHandler } from '../lib/server/lifecycle.ts'

export const handler = lifecycleHandler()
