/** Publishes the signals of authentication, and marks them. */
import { KEPT_DAYS, readSignal, type Signal, signalPartition } from '../authentication/signals.ts'
import { unixSeconds } from '../meta/encoding/time.ts'
import { forEach, OutOfTime } from '../registry/parallel.ts'
import { objectKey } from '../registry/store.ts'
import type { CompanionItem } from '../storage/interface.ts'
import type { Happening } from './event.ts'
import { keyData } from './keydata.ts'
import type { Lifecycle, Send } from './lifecycle.ts'

const DAY = 86_400
const HOUR = 3600
/** Enough to read the keys of a few batches of events at once. */
const AT_ONCE = 50

/** Sends the signals of today and, in the first hour of a day, those of yesterday. With `all`, sends those of every day. */
export async function sendSignals(life: Lifecycle, send: Send, all: boolean): Promise<void> {
  const now = unixSeconds(life.now())
  const days = all ? KEPT_DAYS : now % DAY < HOUR ? 1 : 0
  for (let day = days; day >= 0; day--) await sendDay(life, send, signalPartition(now - day * DAY))
}

async function sendDay(life: Lifecycle, send: Send, pk: string): Promise<void> {
  const { storage, hasTime } = life
  for (let page = await storage.queryCompanions(pk); ; page = await storage.queryCompanions(pk, { after: page.next })) {
    const open = page.items.filter(({ attributes }) => attributes.published === undefined)
    for (let start = 0; start < open.length; start += AT_ONCE) {
      const some = open.slice(start, start + AT_ONCE)
      await send(await Promise.all(some.map((item) => happening(life, item))))
      await forEach(some, hasTime, (item) => mark(life, item))
    }
    if (page.next === undefined) return
    if (!hasTime()) throw new OutOfTime()
  }
}

async function happening(
  { store, storage, limits }: Lifecycle,
  { pk, sk, attributes }: CompanionItem,
): Promise<Happening> {
  const { kind, name, uid, at, ...facts } = readSignal(attributes)
  const stored = await storage.get(store.kind.table, objectKey('', name))
  const data = stored?.object.metadata.uid === uid && stored ? keyData(stored, at, limits) : {}
  return { kind, name, uid, at, unique: `${pk} ${sk}`, data: { ...data, ...factsOf(facts) } }
}

const factsOf = ({ ip, userAgent, url, value }: Partial<Signal>) => ({
  ...(value !== undefined && { value }),
  ...(ip !== undefined && { ip }),
  ...(userAgent !== undefined && { userAgent }),
  ...(url !== undefined && { url }),
})

/** Marks a signal as published. Does nothing if another run has marked it. */
async function mark({ storage, now, deadline }: Lifecycle, item: CompanionItem): Promise<void> {
  const published = unixSeconds(now())
  await storage.swapCompanion(item, { ...item, attributes: { ...item.attributes, published } }, { deadline })
}
