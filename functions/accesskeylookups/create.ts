import { AccessKeyLookup } from '../../lib/apis/management/v1/lookup/accesskeylookup.ts'
import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(AccessKeyLookup, createVirtualHandler)
