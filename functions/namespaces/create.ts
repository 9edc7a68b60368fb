import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'
import { Namespace } from '../../lib/clusters/namespace.ts'

export const handler = await virtualHandler(Namespace, createVirtualHandler)
