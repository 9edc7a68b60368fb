/**
 * Reads since when history is kept without a gap, and whether families are. The publisher of events says so in the item with its
 * position: a release that keeps none writes that item without it, so that both begin anew with the next release that does.
 */
import type { CompanionItem } from '../../storage/interface.ts'
import type { ItemKey } from '../../storage/keys.ts'
import { isCount } from '../strictrecord.ts'

/** The item with the position up to which events are published. */
export const positionKey: ItemKey = { pk: 'lifecycle#position', sk: '#' }

/** Returns the time in unix seconds, or undefined if nothing is kept yet. */
export const keptSince = (position: Pick<CompanionItem, 'attributes'> | undefined): number | undefined =>
  isCount(position?.attributes.since) ? position.attributes.since : undefined

/** Returns the partition of the items that say which keys the keys of this name made. */
export const madePartition = (maker: string): string => `made#${maker}`

/** Returns the revision up to which none of these items is missing, or undefined if some may be. */
export const completeUpTo = (position: CompanionItem | undefined): number | undefined => {
  const { rv, families } = position?.attributes ?? {}
  return families === true && isCount(rv) ? rv : undefined
}
