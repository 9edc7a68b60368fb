/**
 * Brings forward the removal of Secrets to which tokens are bound, after what may have ended their keys. It only writes when to look at
 * them: the function that removes them (boundsecrets.ts) judges each key, and talks to clusters.
 */
import {
  BOUND_INDEX,
  type Bound,
  boundAttributes,
  boundPartition,
  ENDING,
  isEndedBy,
  readBound,
} from '../../authentication/boundsecrets.ts'
import { keyStatus, lifeOf } from '../../authentication/keystatus.ts'
import { unixSeconds } from '../../meta/encoding/time.ts'
import { forEach } from '../../registry/parallel.ts'
import type { Change, CompanionItem } from '../../storage/interface.ts'
import { companionPages, getCompanion } from '../../storage/readcompanions.ts'
import { indexEntries } from '../indexpages.ts'
import type { Lifecycle } from './lifecycle.ts'

type Work = Pick<Lifecycle, 'storage' | 'now' | 'hasTime' | 'deadline' | 'limits'>

/** The index may lack an item that was just written. So what ends keys is looked at once more after so many seconds. */
const INDEX_SECONDS = 60
/** How often an item is read again that somebody else has written meanwhile. */
const ATTEMPTS = 5

/** Brings forward what these changes of keys may have ended. Returns how many Secrets. Repeating it is safe. */
export async function bringForwardChanged(work: Work, changes: readonly Change[]): Promise<number> {
  let moved = 0
  const possible = changes.filter(({ type }) => type !== 'ADDED')
  await forEach(possible, work.hasTime, async ({ type, stored: { object }, at }) => {
    const isOver = type === 'DELETED' || keyStatus(lifeOf(object), at, {}).state !== 'Active'
    for await (const items of companionPages(work.storage, boundPartition(object.metadata.uid ?? ''))) {
      for (const item of items) {
        if (await bringForward(work, item, isOver ? at : undefined)) moved++
      }
    }
  })
  return moved
}

/** Brings forward what closed gates and removed clusters have ended. Returns how many Secrets. */
export async function bringForwardEnded(work: Work): Promise<number> {
  let moved = 0
  for await (const endings of companionPages(work.storage, ENDING)) {
    if (endings.length === 0) continue
    for await (const entries of indexEntries(work, BOUND_INDEX, { after: 0, to: Number.MAX_SAFE_INTEGER })) {
      await forEach(entries, work.hasTime, async (entry) => {
        const item = await getCompanion(work.storage, entry)
        if (item && endings.some(({ sk }) => isEndedBy(sk, item)) && (await bringForward(work, item))) moved++
      })
    }
    await forEach(endings, work.hasTime, (ending) => seen(work, ending))
  }
  return moved
}

/** Notes that the items of an ending were brought forward, and forgets it when no more can appear. */
async function seen({ storage, now, deadline }: Work, { pk, sk, attributes }: CompanionItem): Promise<void> {
  const at = unixSeconds(now())
  const { seen = at } = attributes
  const isOver = at > Number(seen) + INDEX_SECONDS
  await storage.writeCompanion({ pk, sk, attributes: isOver ? null : { ...attributes, seen } }, { deadline })
}

/** Returns undefined for an item that cannot be read, which the function that removes Secrets reports. It must not delay events. */
function readable(item: CompanionItem): Bound | undefined {
  try {
    return readBound(item)
  } catch {
    return undefined
  }
}

/**
 * Has the item looked at now. With `ended`, when its key gave no access: tokens from before stay dead, whatever becomes of the key. Returns
 * whether there is something to look at.
 */
async function bringForward(work: Work, found: CompanionItem, ended?: number): Promise<boolean> {
  const { storage, now, deadline } = work
  let item: CompanionItem | undefined = found
  for (let attempt = 0; item && attempt < ATTEMPTS; attempt++) {
    const bound = readable(item)
    if (!bound) return true
    const at = unixSeconds(now())
    const isEnded = bound.ended !== undefined
    // The key may work again, and the Secret may be of that time.
    const ends = ended !== undefined && !isEnded && bound.since <= ended
    if (bound.gone || isEnded || (!ends && (bound.expiry ?? 0) <= at)) return !bound.gone
    const { pk, sk } = item
    const attributes = boundAttributes(ends ? { ...bound, ended } : bound, at)
    if (await storage.writeCompanion({ pk, sk, attributes, when: { is: item } }, { deadline })) return true
    item = await getCompanion(storage, { pk, sk })
  }
  return false
}
