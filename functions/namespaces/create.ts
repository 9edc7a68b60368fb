import { Namespace } from '../../lib/clusters/namespace.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(Namespace, createVirtualHandler)
