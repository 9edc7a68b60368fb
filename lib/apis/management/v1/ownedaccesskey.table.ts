/** Describes how access keys are stored, for functions that need nothing else of the kind. */
import { keyIdentity } from '../../../authorization/users/identity.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import type { Table } from '../../../storage/interface.ts'
import { isExchanged, toKey } from './ownedaccesskey.values.ts'

export const table: Table = {
  resource: KINDS.OwnedAccessKey.plural,
  partitions: (stored) => [keyIdentity(toKey(stored))],
  activity: true,
  // Otherwise the keys of a fleet of jobs would keep people from creating keys.
  counted: (stored) => !isExchanged(stored),
}
