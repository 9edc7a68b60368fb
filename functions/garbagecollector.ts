import { garbageCollector } from '../lib/server/controllers.ts'

export const handler = garbageCollector()
