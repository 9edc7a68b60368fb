/**
 * The watches that are open, counted by the key that opened them: every watch is a function of its own, so the table counts.
 *
 *     pk=watches#UID sk=ID until=1795257660000 expires=1795257660
 *
 * An item lapses where its function dies. It is written when a watch begins, every half minute and when it ends, in a
 * partition for each key; no other request reads or writes one.
 */
import type { EndpointServices } from '../endpoints/exchange.ts'
import { tooManyRequests } from '../meta/errors/status.ts'
import type { Storage } from '../storage/interface.ts'

/** How long a watch counts of which nothing is heard. */
const leaseMs = 60_000
/** How often it is heard of. */
const renewMs = leaseMs / 2
/** The time of one write; that of the request is over before its watch is. */
const unhurried = { deadline: () => leaseMs / 4 }
/** When a client that is refused may try again. */
const retryAfterSeconds = 10

export interface Watches {
  storage: Pick<Storage, 'keepCompanion' | 'dropCompanion' | 'queryCompanions'>
  /** The most that one key may have open; 0 = as many as it likes. */
  most: number
  /** Unix ms. */
  now(): number
  uuid(): string
}

/** Returns what counts a watch: see `EndpointServices`. A watch is written before it is counted, so never too many are let in. */
export function watchCounter({ storage, most, now, uuid }: Watches): EndpointServices['openWatch'] {
  return async ({ user: { key } }) => {
    if (most === 0) return { keep: async () => {}, close: async () => {} }
    const item = { pk: `watches#${key.uid}`, sk: uuid() }
    let renewed = 0
    const keep = async (): Promise<void> => {
      if (now() - renewed < renewMs) return
      renewed = now()
      const until = renewed + leaseMs
      await storage.keepCompanion({ ...item, attributes: { until, expires: Math.ceil(until / 1000) } }, unhurried)
    }
    const close = (): Promise<void> => storage.dropCompanion(item, unhurried).catch(() => undefined)
    await keep()
    const { items } = await storage.queryCompanions(item.pk)
    const open = items.filter(({ attributes: { until } }) => Number(until) > now()).length
    if (open <= most) return { keep, close }
    await close()
    const text = `access key "${key.name}" has ${most} watches open, the most that one may have (setting watches-per-key)`
    throw tooManyRequests(text, retryAfterSeconds)
  }
}
