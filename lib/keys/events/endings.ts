/**
 * Brings forward the removal of Secrets to which tokens are bound, after what may have ended their keys. It only writes when to look at
 * them: the function that removes them (boundsecrets.ts) judges each key, and talks to clusters.
 */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { forEach } from '../../engine/registry/parallel.ts'
import type { Change, CompanionItem } from '../../engine/storage/interface.ts'
import { companionPages, getCompanion } from '../../engine/storage/readcompanions.ts'
import { type Bound, boundItem, boundPartition, ENDING, livingIn, readBound } from '../credential/boundsecrets.ts'
import { keyStatus, lifeOf } from '../credential/keystatus.ts'
import { EVER, indexEntries } from '../indexpages.ts'
import type { Lifecycle } from './lifecycle.ts'

type Work = Pick<Lifecycle, 'storage' | 'now' | 'hasTime' | 'deadline' | 'keysThrough'>

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
    moved += await bringForwardOf(work, object.metadata.uid ?? '', isOver ? at : undefined)
  })
  return moved
}

async function bringForwardOf(work: Work, uid: string, ended: number | undefined): Promise<number> {
  let moved = 0
  for await (const items of companionPages(work.storage, boundPartition(uid))) {
    for (const item of items) if (await bringForward(work, item, ended)) moved++
  }
  return moved
}

/**
 * Ends what closed gates and changed clusters have let through until then. Returns how many Secrets. Reads the records of these only, of
 * which those of a place are together in the index.
 */
export async function bringForwardEnded(work: Work): Promise<number> {
  let moved = 0
  for await (const endings of companionPages(work.storage, ENDING)) {
    for (const ending of endings) {
      const { what, at, name } = ending.attributes
      const [kind = '', uid = ''] = String(what).split('#')
      if (kind === 'key') moved += await bringForwardOf(work, uid, undefined)
      else if (kind === 'trust' || kind === 'provider') {
        for await (const key of work.keysThrough({ kind, uid, name: String(name) }))
          moved += await bringForwardOf(work, key, Number(at))
      } else moved += await bringForwardIn(work, String(what), Number(at))
      await seen(work, ending)
    }
  }
  return moved
}

async function bringForwardIn(work: Work, place: string, ended: number): Promise<number> {
  let moved = 0
  for await (const entries of indexEntries(work, livingIn(place), EVER)) {
    await forEach(entries, work.hasTime, async (entry) => {
      const item = await getCompanion(work.storage, entry)
      if (item && (await bringForward(work, item, ended))) moved++
    })
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
    const next = boundItem(item, ends ? { ...bound, ended } : bound, at)
    if (await storage.writeCompanion({ ...next, when: { is: item } }, { deadline })) return true
    item = await getCompanion(storage, item)
  }
  return false
}
