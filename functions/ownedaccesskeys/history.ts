import { OwnedAccessKeyHistory } from '../../lib/apis/management/v1/history/ownedaccesskeyhistory.ts'
import { table } from '../../lib/apis/management/v1/ownedaccesskey.table.ts'
import { computedKindHandler } from '../../lib/server/handler.ts'

export const handler = await computedKindHandler(OwnedAccessKeyHistory, table)
