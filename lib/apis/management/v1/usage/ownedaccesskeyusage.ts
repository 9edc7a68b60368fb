/** Defines OwnedAccessKeyUsage, which says what an access key did (docs/usage.md). */
import { KINDS } from '../../../../kinds/kinds.ts'
import { object } from '../../../../meta/schema/schema.ts'
import type { ComputedKind } from '../../../../registry/kind.ts'
import type { UsageServices } from '../services.ts'
import { status } from './ownedaccesskeyusage.schema.ts'
import { readKeyUsage } from './read.ts'

export const OwnedAccessKeyUsage: ComputedKind<UsageServices> = {
  ...KINDS.OwnedAccessKeyUsage,
  description: 'Says what an access key did in the last 90 days.',
  schema: { spec: object('Nothing.', {}), status },
  read: readKeyUsage,
}
