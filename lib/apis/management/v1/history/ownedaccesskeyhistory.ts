/** Defines OwnedAccessKeyHistory, which says what happened to an access key, and which keys it made. */
import { KINDS } from '../../../../kinds/kinds.ts'
import { object } from '../../../../meta/schema/schema.ts'
import type { ComputedKind } from '../../../../registry/kind.ts'
import type { Services } from '../services.ts'
import { status } from './ownedaccesskeyhistory.schema.ts'
import { readKeyHistory } from './read.ts'

export const OwnedAccessKeyHistory: ComputedKind<Services> = {
  ...KINDS.OwnedAccessKeyHistory,
  description: 'Says what happened to an access key in the last 90 days, which key made it, and which keys it made.',
  schema: { spec: object('Nothing.', {}), status },
  read: readKeyHistory,
}
