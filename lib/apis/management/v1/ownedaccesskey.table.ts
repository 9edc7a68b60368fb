/** Describes how access keys are stored, for functions that need nothing else of the kind. */
import { identityNamed, keyIdentity } from '../../../authorization/users/identity.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import type { StoredKind } from '../../../registry/kind.ts'
import type { Table } from '../../../storage/interface.ts'
import { isExchanged, toKey } from './ownedaccesskey.values.ts'

export const table: Table = {
  resource: KINDS.OwnedAccessKey.plural,
  partitions: (stored) => [keyIdentity(toKey(stored))],
  activity: true,
  // Otherwise the keys of a fleet of jobs would keep people from creating keys.
  counted: (stored) => !isExchanged(stored),
}

/**
 * Returns the partition of the keys that have these values, or none if no key can have them all. A key that has a user is owned
 * by that user, even if it has a team.
 */
export const selectedPartitions: NonNullable<StoredKind['selectedPartitions']> = (required) => {
  const hasNo = (field: 'spec.user' | 'spec.team') => required(field).includes('')
  const valuesOf = (field: 'spec.user' | 'spec.team' | 'spec.subject') =>
    required(field).filter((value) => value !== '')
  const owners = new Set<string>([
    ...required('status.owner').map(identityNamed),
    ...valuesOf('spec.user').map((user) => `user:${user}`),
    ...(hasNo('spec.user') ? valuesOf('spec.team').map((team) => `team:${team}`) : []),
    ...(hasNo('spec.user') && hasNo('spec.team') ? valuesOf('spec.subject').map((one) => `subject:${one}`) : []),
  ])
  if (owners.size === 0) return undefined
  return owners.size === 1 ? [...owners] : []
}
