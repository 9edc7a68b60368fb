/**
 * Counts the open watches of each access key in the table, because each watch runs in its own function instance.
 *
 *     pk=watches#UID sk=ID until=1795257660000 expires=1795257660
 *
 * Each key has its own partition. A watch writes its item when it starts and renews it every 30 seconds. It deletes the
 * item when it ends. If the function dies, the item expires. No other request reads or writes these items.
 */
import type { EndpointServices } from '../endpoints/call.ts'
import { tooManyRequests } from '../meta/errors/status.ts'
import type { Storage } from '../storage/interface.ts'
import { companionPages } from '../storage/readcompanions.ts'

/** How long a watch counts after its last renewal. */
const leaseMs = 60_000
/** How often a watch renews its item. */
const renewMs = leaseMs / 2
/** Deadline of one write. The deadline of the request passes long before its watch ends. */
const unhurried = { deadline: () => leaseMs / 4 }
/** When a rejected client may retry. */
const retryAfterSeconds = 10

interface Watches {
  storage: Pick<Storage, 'writeCompanion' | 'queryCompanions'>
  /** Maximum number of open watches per key. 0 means no limit. */
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
  return async ({ user: { key } }) => {
    if (most === 0) return { keep: async () => {}, close: async () => {} }
    const item = { pk: `watches#${key.uid}`, sk: uuid() }
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
    if (!(await hasMore(storage, item.pk, { most, now: now() }))) return { keep, close }
    await close()
    const text = `access key "${key.name}" already has ${most} open watches, which is the limit (setting watches-per-key)`
    throw tooManyRequests(text, retryAfterSeconds)
  }
}

/** Reports whether a watch counts whose lease ends in so many ms. A lease that is much longer is from a clock that was ahead. */
const isCounted = (left: number): boolean => left > 0 && left <= 2 * leaseMs

/** Reports whether more than `most` watches of the partition are open. Reads no further than it must. */
async function hasMore(
  storage: Pick<Storage, 'queryCompanions'>,
  pk: string,
  { most, now }: { most: number; now: number },
): Promise<boolean> {
  let open = 0
  for await (const items of companionPages(storage, pk)) {
    open += items.filter(({ attributes: { until } }) => isCounted(Number(until) - now)).length
    if (open > most) return true
  }
  return false
}
