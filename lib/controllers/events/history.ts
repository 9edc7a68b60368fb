/** Keeps what happened to keys, and which keys they made, as side items that go with them. Repeats write the same items. */
import { historyItem, historyPartition, madeItem } from '../../authentication/history/items.ts'
import { forEach, OutOfTime } from '../../registry/parallel.ts'
import type { Change, Stored } from '../../storage/interface.ts'
import type { KeyOccurrence } from './event.ts'
import type { Lifecycle } from './lifecycle.ts'
import { movePosition, readPosition } from './position.ts'

type Keeper = Pick<Lifecycle, 'storage' | 'hasTime' | 'deadline'>

/** The most items of a history that are removed with its key. The store deletes the others when they expire. */
const MOST_REMOVED = 1000

/** Keeps what happened to keys that still exist. */
export const keepHistory = (
  { storage, hasTime, deadline, recordSources }: Keeper & Pick<Lifecycle, 'recordSources'>,
  all: readonly KeyOccurrence[],
): Promise<void> =>
  forEach(
    all.filter(({ gone }) => !gone),
    hasTime,
    ({ kind, uid, at, unique, data }) => {
      const { ip: _, userAgent: __, ...rest } = data
      const item = historyItem(uid, { kind, at, detail: recordSources ? data : rest }, unique)
      return storage.writeCompanion(item, { deadline })
    },
  )

/**
 * Keeps which keys were made with a key, and forgets the keys that are gone with their history. What a key made stays known when it
 * is gone.
 */
export async function keepFamilies(keeper: Keeper, changes: readonly Change[]): Promise<void> {
  const { storage, hasTime, deadline } = keeper
  const statesOf = (wanted: Change['type']): Stored[] =>
    changes.flatMap((change) => (change.type === wanted ? [change.stored] : []))
  const made = statesOf('ADDED').flatMap((stored) => madeItem(stored) ?? [])
  await forEach(made, hasTime, (item) => storage.writeCompanion(item, { deadline }))
  // Afterwards: some of them may be deleted already.
  for (const stored of statesOf('DELETED')) await forget(keeper, stored)
}

async function forget({ storage, hasTime, deadline }: Keeper, stored: Stored): Promise<void> {
  const { uid = '' } = stored.object.metadata
  const own = madeItem(stored)
  const { items } = await storage.queryCompanions(historyPartition(uid), { limit: MOST_REMOVED })
  await forEach([...(own ? [own] : []), ...items], hasTime, (item) =>
    storage.writeCompanion({ ...item, attributes: null }, { deadline }),
  )
}

/** How many keys are read at a time. */
const PAGE = 500

/**
 * Keeps the same of the keys from before the log was followed, or from a time when a release followed it that keeps no families.
 * Stores after which name to continue.
 */
export async function keepOlderFamilies(life: Lifecycle): Promise<void> {
  const { store, storage, hasTime, deadline } = life
  for (let position = await readPosition(life); position && position.families !== true; ) {
    if (!hasTime()) throw new OutOfTime()
    const { families: after } = position
    const page = await storage.list(store.kind.table, { keepsNext: true, limit: PAGE, ...(after && { after }) })
    const made = page.items.flatMap((one) => madeItem(one.read()) ?? [])
    await forEach(made, hasTime, (item) => storage.writeCompanion(item, { deadline }))
    position = await movePosition(life, position, { ...position, families: page.next ?? true })
  }
}
