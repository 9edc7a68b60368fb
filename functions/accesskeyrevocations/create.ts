import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { AccessKeyRevocation } from '../../lib/revocation/accesskeyrevocation.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(AccessKeyRevocation, createVirtualHandler)
