import { table } from '../../lib/apis/management/v1/ownedaccesskey.table.ts'
import { OwnedAccessKeyUsage } from '../../lib/apis/management/v1/usage/ownedaccesskeyusage.ts'
import { computedKindHandler } from '../../lib/server/handler.ts'

export const handler = await computedKindHandler(OwnedAccessKeyUsage, table)
