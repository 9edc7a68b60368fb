/**
 * Counts the open watches of each access key and of each owner in the table, because each watch runs in its own function instance.
 *
 *     pk=watches#user:alice sk=UID#ID until=1795257660000 expires=1795257660
 *
 * Each owner has a partition, with the uids of the keys. A watch writes its item when it starts and renews it every 30 seconds. It deletes the
 * item when it ends. If the function dies, the item expires. No other request reads or writes these items.
 */
import { identityOf } from '../access/users/identity.ts'
import type { EndpointServices } from '../engine/endpoints/call.ts'
import { tooManyRequests } from '../engine/meta/errors/status.ts'
import type { Storage } from '../engine/storage/interface.ts'
import { companionPages } from '../engine/storage/readcompanions.ts'

/** How long a watch counts after its last renewal. */
const leaseMs = 60_000
/** How often a watch renews its item. */
const renewMs = leaseMs / 2
/** Deadline of one write. The deadline of the request passes long before its watch ends. */
const unhurried = { deadline: () => leaseMs / 4 }
/** When a rejected client may retry. */
const retryAfterSeconds = 10

/** How many keys of one owner may use up their limits. With more, somebody who makes keys would fill the memory of the server. */
const KEYS_OF_OWNER = 3

interface Watches {
  storage: Pick<Storage, 'writeCompanion' | 'queryCompanions'>
  /** Maximum number of open watches per key. An owner has at most `KEYS_OF_OWNER` times as many. 0 means no limit. */
  most: number
  /** Unix ms. */
  now(): number
  uuid(): string
}

/**
 * Returns the function that registers a watch: see `EndpointServices`. It writes the item before it counts, so that
 * concurrent watches never exceed the limit.
 */
export function watchCounter({ storage, most, now, uuid }: Watches): EndpointServices['openWatch'] {
  return async ({ user }) => {
    if (most === 0) return { keep: async () => {}, close: async () => {} }
    const { key } = user
    const item = { pk: `watches#${identityOf(user)}`, sk: `${key.uid}#${uuid()}` }
    let renewed = 0
    const keep = async (): Promise<void> => {
      if (now() - renewed < renewMs) return
      renewed = now()
      const until = renewed + leaseMs
      await storage.writeCompanion({ ...item, attributes: { until, expires: Math.ceil(until / 1000) } }, unhurried)
    }
    const close = async (): Promise<void> => {
      await storage.writeCompanion({ ...item, attributes: null }, unhurried).catch(() => undefined)
    }
    await keep()
    const who = await whoHasMore(storage, item.pk, { uid: key.uid, most, now: now() })
    if (who === undefined) return { keep, close }
    await close()
    const limit = 'which is the limit (setting watches-per-key)'
    const text =
      who === 'key'
        ? `access key "${key.name}" already has ${most} open watches, ${limit}`
        : `the access keys of this owner already have ${KEYS_OF_OWNER * most} open watches, ${KEYS_OF_OWNER} times as many as one key may have, ${limit}`
    throw tooManyRequests(text, retryAfterSeconds)
  }
}

/** Reports whether a watch counts whose lease ends in so many ms. A lease that is much longer is from a clock that was ahead. */
const isCounted = (left: number): boolean => left > 0 && left <= 2 * leaseMs

/** Returns whether the key or its owner has more open watches than it may, or undefined. Reads no further than it must. */
async function whoHasMore(
  storage: Pick<Storage, 'queryCompanions'>,
  pk: string,
  { uid, most, now }: { uid: string; most: number; now: number },
): Promise<'key' | 'owner' | undefined> {
  let ofKey = 0
  let all = 0
  for await (const items of companionPages(storage, pk)) {
    const open = items.filter(({ attributes: { until } }) => isCounted(Number(until) - now))
    ofKey += open.filter(({ sk }) => sk.startsWith(`${uid}#`)).length
    all += open.length
    if (ofKey > most) return 'key'
    if (all > KEYS_OF_OWNER * most) return 'owner'
  }
  return undefined
}
