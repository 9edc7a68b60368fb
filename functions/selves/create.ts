import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { Self } from '../../lib/reviews/self.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(Self, createVirtualHandler)
