/**
 * Reads since when history is kept without a gap. The publisher of events says so in the item with its
 * position: a release that keeps none writes that item without it, so that it begins anew with the next release that does.
 */
import type { CompanionItem } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import { isCount } from '../credential/strictrecord.ts'

/** The item with the position up to which events are published. */
export const positionKey: ItemKey = { pk: 'lifecycle#position', sk: '#' }

/** Returns the time in unix seconds, or undefined if nothing is kept yet. */
export const keptSince = (position: Pick<CompanionItem, 'attributes'> | undefined): number | undefined =>
  isCount(position?.attributes.since) ? position.attributes.since : undefined
