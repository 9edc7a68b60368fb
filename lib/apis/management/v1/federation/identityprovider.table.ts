/** Describes how identity providers are stored. Functions that only read them need no more of the kind. */
import { KINDS } from '../../../../kinds/kinds.ts'
import type { Table } from '../../../../storage/interface.ts'

/**
 * Lists read every provider and leave out those that the user may not use. A deployment has a few dozen at most, so one
 * query reads fewer items than one for each team of the user would.
 */
export const table: Table = { resource: KINDS.IdentityProvider.plural, partitions: () => [], activity: false }
