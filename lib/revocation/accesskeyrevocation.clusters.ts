/**
 * Finds the clusters that have not confirmed the end of revoked keys: tokens of their service accounts work until they remove a Secret.
 * Another function asks them, within seconds.
 */

import { clusterIn } from '../clusters/serviceaccounts/target.ts'
import { byBytes } from '../engine/meta/value/byteorder.ts'
import { forEach } from '../engine/registry/parallel.ts'
import type { IndexRange, Storage } from '../engine/storage/interface.ts'
import type { ItemKey } from '../engine/storage/keys.ts'
import { companionPages } from '../engine/storage/readcompanions.ts'
import {
  type Bound,
  boundPartition,
  isUnconfirmed,
  PLACES,
  placeOf,
  readBound,
} from '../keys/credential/boundsecrets.ts'
import { EXPIRY_INDEX } from '../keys/credential/expiryindex.ts'
import type { Services } from '../keys/services.ts'

type Unconfirmed = { keys: number; clusters: string[] }

/** How long clusters may take to confirm, and the time between two looks. */
const WAIT_MS = 10_000
const PAUSE_MS = 500

interface Waiting extends Pick<Services, 'sleep'> {
  storage: Storage
  hasTime(): boolean
}

/**
 * Waits until clusters have confirmed the end of the keys with these uids, or have been asked in vain, or the time is up. Returns how
 * many keys are left, and where; undefined if none. Without such tokens, it makes one call of the table and does not wait.
 */
export const awaitClusters = async (waiting: Waiting, uids: ReadonlySet<string>): Promise<Unconfirmed | undefined> =>
  awaitRemovals(waiting, await boundTo(waiting.storage, uids))

/** The same for the Secrets of these records. */
export async function awaitRemovals(
  { storage, sleep, hasTime }: Waiting,
  found: readonly ItemKey[],
): Promise<Unconfirmed | undefined> {
  if (found.length === 0) return undefined
  for (let waited = 0; ; waited += PAUSE_MS) {
    const left = await unconfirmedOf(storage, found)
    if (left.length === 0) return undefined
    const isOver = waited >= WAIT_MS || !hasTime()
    if (isOver || left.every(({ bound }) => bound.attempts !== undefined)) {
      const clusters = new Set(left.map(({ place }) => clusterIn(place)))
      return { keys: new Set(left.map(({ bound }) => bound.uid)).size, clusters: [...clusters].sort(byBytes) }
    }
    await sleep(PAUSE_MS)
  }
}

/** How many keys are looked up at a time. */
const READS_AT_ONCE = 16

/** Returns the items of these keys that are not gone. Where no cluster has any, one read for all keys. */
async function boundTo(storage: Storage, uids: ReadonlySet<string>): Promise<ItemKey[]> {
  const { name, partition, sort } = EXPIRY_INDEX
  const range: IndexRange = {
    index: name,
    partition: { attribute: partition, value: PLACES },
    sort: { attribute: sort, to: Number.MAX_SAFE_INTEGER },
  }
  const places = await storage.queryCompanions(range, { limit: 1 })
  if (places.items.length === 0) return []
  const found: ItemKey[] = []
  const collect = async (uid: string) => {
    for await (const items of companionPages(storage, boundPartition(uid)))
      found.push(...items.filter(({ attributes }) => attributes.gone !== true))
  }
  await forEach(uids, () => true, collect, READS_AT_ONCE)
  return found
}

/** How many items one call reads. */
const BATCH = 100

async function unconfirmedOf(storage: Storage, keys: readonly ItemKey[]): Promise<{ bound: Bound; place: string }[]> {
  const left: { bound: Bound; place: string }[] = []
  for (let at = 0; at < keys.length; at += BATCH) {
    for (const item of await storage.getCompanions(keys.slice(at, at + BATCH))) {
      if (item === undefined) continue
      const bound = readBound(item)
      if (isUnconfirmed(bound)) left.push({ bound, place: placeOf(item) })
    }
  }
  return left
}
