import { table } from '../../lib/keys/ownedaccesskey.table.ts'
import { OwnedAccessKeyUsage } from '../../lib/keys/ownedaccesskeyusage.ts'
import { computedKindHandler } from '../../lib/server/handler.ts'

export const handler = await computedKindHandler(OwnedAccessKeyUsage, table)
