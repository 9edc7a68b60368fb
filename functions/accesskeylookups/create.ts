import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { AccessKeyLookup } from '../../lib/keys/accesskeylookup.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(AccessKeyLookup, createVirtualHandler)
