/** Reads and moves the position up to which events are published. It never goes back, however many runs there are. */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import type { CompanionItem } from '../../engine/storage/interface.ts'
import { getCompanion } from '../../engine/storage/readcompanions.ts'
import { keptSince, positionKey } from '../history/keptsince.ts'
import type { Lifecycle } from './lifecycle.ts'

export interface Position {
  /** All changes up to this revision are published. */
  rv: number
  /** All expiries up to this time are published, in unix seconds. */
  until: number
  /** The keys that expired up to this time have been touched, so that watches know, in unix seconds. */
  touched: number
  /** Since when history is kept without a gap, in unix seconds. 0: since the first key. */
  since: number
  /** The item as it was read or written; absent before the first one. */
  item?: CompanionItem
}

/** Returns the position, or undefined before the first run. History is kept from now on if the last run kept none. */
export async function readPosition({
  storage,
  now,
}: Pick<Lifecycle, 'storage' | 'now'>): Promise<Position | undefined> {
  const item = await getCompanion(storage, positionKey)
  if (!item) return undefined
  const { rv, until, touched = until } = item.attributes
  return {
    rv: Number(rv),
    until: Number(until),
    touched: Number(touched),
    since: keptSince(item) ?? unixSeconds(now()),
    item,
  }
}

/** Replaces the position that was read. Returns the new one, or undefined if another run has replaced it. */
export async function movePosition(
  { storage, deadline }: Pick<Lifecycle, 'storage' | 'deadline'>,
  from: Position | undefined,
  { rv, until, touched, since }: Omit<Position, 'item'>,
): Promise<Position | undefined> {
  const item = await storage.writeCompanion(
    { ...positionKey, attributes: { rv, until, touched, since }, when: { is: from?.item } },
    { deadline },
  )
  return item && { rv, until, touched, since, item }
}
