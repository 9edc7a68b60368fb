/** Stores how far the publisher of events has come, in one item of the table: `pk=lifecycle#position sk=#`. */
import type { Deadline } from '../meta/errors/deadline.ts'
import type { CompanionItem, Storage } from '../storage/interface.ts'

export interface Position {
  /** All changes up to this revision are published. */
  rv: number
  /** All expiries up to this time are published, in unix seconds. */
  until: number
  /** The item as it was read or written; absent before the first one. */
  item?: CompanionItem
}

const key = { pk: 'lifecycle#position', sk: '#' }

/** Returns the position, or undefined before the first run. */
export async function readPosition(storage: Storage): Promise<Position | undefined> {
  const item = await storage.getCompanion(key.pk, key.sk)
  return item && { rv: Number(item.attributes.rv), until: Number(item.attributes.until), item }
}

/**
 * Replaces the position that was read. Returns the new one, or undefined if another run has replaced it. So the position
 * never goes back, however many runs there are.
 */
export async function movePosition(
  { storage, deadline }: { storage: Storage; deadline: Deadline },
  from: Position | undefined,
  { rv, until }: Omit<Position, 'item'>,
): Promise<Position | undefined> {
  const item = await storage.swapCompanion(from?.item, { ...key, attributes: { rv, until } }, { deadline })
  return item && { rv, until, item }
}
