/** Publishes the signals of authentication, and removes them: each run reads only what is new. */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../engine/meta/value/durations.ts'
import { forEach, OutOfTime } from '../../engine/registry/parallel.ts'
import { objectKey } from '../../engine/registry/store.ts'
import type { CompanionItem } from '../../engine/storage/interface.ts'
import { companionPages } from '../../engine/storage/readcompanions.ts'
import { isKnown, KEPT_DAYS, markKey, readSignal, recurs, signalPartition } from '../credential/signals.ts'
import type { KeyOccurrence } from './event.ts'
import { keyData } from './keydata.ts'
import type { Lifecycle, Send } from './lifecycle.ts'

/** Enough to read the keys of a few batches of events at once. */
const AT_ONCE = 50

/** Sends the signals of today and, in the first hour of a day, those of yesterday. With `all`, sends those of every day. */
export async function sendSignals(life: Lifecycle, send: Send, all: boolean): Promise<void> {
  const now = unixSeconds(life.now())
  const days = all ? KEPT_DAYS : now % DAY_SECONDS < HOUR_SECONDS ? 1 : 0
  for (let day = days; day >= 0; day--) await sendDay(life, send, signalPartition(now - day * DAY_SECONDS))
}

async function sendDay(life: Lifecycle, send: Send, pk: string): Promise<void> {
  const { storage, hasTime } = life
  for await (const page of companionPages(storage, pk)) {
    const items = page.filter(isKnown)
    for (let start = 0; start < items.length; start += AT_ONCE) {
      const some = items.slice(start, start + AT_ONCE)
      const told = await toldOf(storage, some)
      const untold = some.filter((item) => !told.has(item.sk))
      await send(await Promise.all(untold.map((item) => occurrence(life, item))))
      await forEach(some, hasTime, (item) => remove(life, item, told.has(item.sk)))
    }
    if (!hasTime()) throw new OutOfTime()
  }
}

/** Returns the sort keys of the signals whose event was published before they were written again. */
async function toldOf(storage: Lifecycle['storage'], items: readonly CompanionItem[]): Promise<ReadonlySet<string>> {
  const recurring = items.filter(recurs)
  const marks = recurring.length > 0 ? await storage.getCompanions(recurring.map(markKey)) : []
  return new Set(marks.flatMap((mark) => (mark ? [mark.sk] : [])))
}

async function occurrence(
  { store, storage, limits }: Lifecycle,
  { pk, sk, attributes }: CompanionItem,
): Promise<KeyOccurrence> {
  const { kind, name, uid, at, value, ip, userAgent, url } = readSignal(attributes)
  const stored = await storage.get(store.kind.table, objectKey('', name))
  const known = stored?.object.metadata.uid === uid ? keyData(stored, at, limits) : undefined
  const data = { ...known, ...defined({ value, ip, userAgent, url }) }
  return { kind, name, uid, at, unique: `${pk} ${sk}`, data, ...(known === undefined && { gone: true as const }) }
}

/**
 * Removes a signal whose event was published, so that no run reads it again. The mark comes first: without it, a signal that is
 * written again would be one without an event.
 */
async function remove({ storage, deadline }: Lifecycle, item: CompanionItem, isMarked: boolean): Promise<void> {
  const { expires = 0 } = item.attributes
  if (recurs(item) && !isMarked)
    await storage.writeCompanion({ ...markKey(item), attributes: { expires } }, { deadline })
  await storage.writeCompanion({ ...item, attributes: null }, { deadline })
}
