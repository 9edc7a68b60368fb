import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { createPipeline } from '../../lib/endpoints/handlers/create.ts'
import { storedHandler } from '../../lib/server/handler.ts'

export const handler = storedHandler(OwnedAccessKey, createPipeline)
