import { garbageCollectorHandler } from '../lib/server/controllers.ts'

export const handler = garbageCollectorHandler()
