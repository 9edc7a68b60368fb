/** Describes how access keys are stored, for functions that need nothing else of the kind. */

import { identityNamed, keyIdentity } from '../access/users/identity.ts'
import type { StoredKind } from '../engine/registry/kind.ts'
import type { Table } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { decodeKeyInternal } from './credential/keyinternal.ts'
import { isExchanged, toKey } from './ownedaccesskey.values.ts'

export const table: Table = {
  resource: KINDS.OwnedAccessKey.plural,
  partitions: (stored) => [keyIdentity(toKey(stored))],
  names({ internal }) {
    const { maker } = decodeKeyInternal(internal)
    return maker === undefined ? [] : [madeWith(maker)]
  },
  activity: true,
  // Otherwise the keys of a fleet of jobs would keep people from creating keys.
  counted: (stored) => !isExchanged(stored),
}

/**
 * Returns the index partition with the names of the keys that were made with a key of this name. A name stays known when the key is gone.
 * It is written with every key that a key makes, and takes less than the rows and the credential of the maker then do: those are
 * throttled first, however many keys one key makes.
 */
export const madeWith = (maker: string): string => `made:${maker}`

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
  if (owners.size > 0) return { within: owners.size === 1 ? [...owners] : [] }
  const [maker] = required('status.madeWith.name')
  return maker ? { named: madeWith(maker) } : {}
}
