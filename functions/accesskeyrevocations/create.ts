import { AccessKeyRevocation } from '../../lib/apis/management/v1/revocation/accesskeyrevocation.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(AccessKeyRevocation, createVirtualHandler)
