/**
 * Finds the clusters that have not confirmed the end of revoked keys: tokens of their service accounts work until they remove a Secret.
 * Another function asks them, within seconds.
 */
import { BOUND_INDEX, type Bound, isUnconfirmed, placeOf, readBound } from '../../../../authentication/boundsecrets.ts'
import { EXPIRY_INDEX } from '../../../../authentication/expiryindex.ts'
import { clusterIn } from '../../../../kubeconfig/serviceaccounts/target.ts'
import { byBytes } from '../../../../meta/value/byteorder.ts'
import type { IndexRange, Storage } from '../../../../storage/interface.ts'
import type { ItemKey } from '../../../../storage/keys.ts'
import type { Services } from '../services.ts'

type Unconfirmed = { keys: number; clusters: string[] }

/** How long clusters may take to confirm, and the time between two looks. */
const WAIT_MS = 10_000
const PAUSE_MS = 500

/**
 * Waits until clusters have confirmed the end of the keys with these uids, or have been asked in vain, or the time is up. Returns how
 * many keys are left, and where; undefined if none. Without such tokens, it makes one call of the table and does not wait.
 */
export async function awaitClusters(
  { storage, sleep }: { storage: Storage } & Pick<Services, 'sleep'>,
  uids: ReadonlySet<string>,
  hasTime: () => boolean,
): Promise<Unconfirmed | undefined> {
  const found = await boundTo(storage, uids)
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

/** Returns the items of these keys that are not gone. One read for all keys: most have none. */
async function boundTo(storage: Storage, uids: ReadonlySet<string>): Promise<ItemKey[]> {
  const range: IndexRange = {
    index: EXPIRY_INDEX.name,
    partition: { attribute: EXPIRY_INDEX.partition, value: BOUND_INDEX },
    sort: { attribute: EXPIRY_INDEX.sort, to: Number.MAX_SAFE_INTEGER },
  }
  const found: ItemKey[] = []
  for (let after: string | undefined; ; ) {
    const page = await storage.queryCompanions(range, after === undefined ? {} : { after })
    for (const { pk, sk, attributes } of page.items) if (uids.has(String(attributes.uid))) found.push({ pk, sk })
    after = page.next
    if (after === undefined) return found
  }
}

async function unconfirmedOf(storage: Storage, keys: readonly ItemKey[]): Promise<{ bound: Bound; place: string }[]> {
  const items = await storage.getCompanions(keys)
  return items
    .filter((item) => item !== undefined)
    .map((item) => ({ bound: readBound(item), place: placeOf(item) }))
    .filter(({ bound }) => isUnconfirmed(bound))
}
