import { table } from '../../lib/keys/ownedaccesskey.table.ts'
import { OwnedAccessKeyHistory } from '../../lib/keys/ownedaccesskeyhistory.ts'
import { computedKindHandler } from '../../lib/server/handler.ts'

export const handler = await computedKindHandler(OwnedAccessKeyHistory, table)
