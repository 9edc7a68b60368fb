import { createVirtualHandler } from '../../lib/engine/endpoints/handlers/virtual.ts'
import { OwnedAccessKeyRotation } from '../../lib/keys/ownedaccesskeyrotation.ts'
import { virtualHandler } from '../../lib/server/handler.ts'

export const handler = await virtualHandler(OwnedAccessKeyRotation, createVirtualHandler)
