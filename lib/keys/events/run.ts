/**
 * Publishes what happens to access keys, and keeps it as their history. It reads the change log from its stored position, the
 * signals of authentication, and hourly the expiry index. It publishes first and moves the position then, so that an event is
 * published at least once. Repeats have the same ids, so runs may be interrupted, repeated and concurrent.
 */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { HOUR_SECONDS } from '../../engine/meta/value/durations.ts'
import { OutOfTime } from '../../engine/registry/parallel.ts'
import { StorageError } from '../../engine/storage/errors.ts'
import type { ChangeBatch } from '../../engine/storage/interface.ts'
import { occurrences } from './changes.ts'
import { bringForwardChanged, bringForwardEnded } from './endings.ts'
import { type KeyOccurrence, toEvent } from './event.ts'
import { touchExpired } from './expiredphase.ts'
import { sendExpiries } from './expiries.ts'
import { forgetHistories, keepHistory } from './history.ts'
import type { Lifecycle, Send } from './lifecycle.ts'
import { movePosition, type Position, readPosition } from './position.ts'
import { sendStalled, settleRotations } from './rotations.ts'
import { sendSignals } from './signals.ts'
import { endUnusedKeys, type UnusedKeys } from './unused.ts'
import { forgetDeleted } from './usage.ts'

export interface Run {
  /** Events published, repeats included. */
  published: number
  /** Rotations settled. */
  settled: number
  /** What was found of keys that nobody uses, if that was due. */
  unused?: UnusedKeys
  /** Set if the time ran out: the next run continues. */
  remaining?: true
}

/** An entry of the index may appear a moment after the write, so the last minute is left for the next hour. */
const LAG_SECONDS = 60
/** The most expiries at a time, after a long pause. */
const STRIDE_SECONDS = 6 * HOUR_SECONDS

/** Publishes what has happened since the last run. Throws if something could not be published: the next run repeats it. */
export async function runLifecycle(life: Lifecycle): Promise<Run> {
  const run: Run = { published: 0, settled: 0 }
  const send = async (all: readonly KeyOccurrence[]): Promise<void> => {
    if (all.length === 0) return
    await keepHistory(life, all)
    await life.publish(all.map((one) => toEvent(one, { source: life.source, resource: life.store.kind.plural })))
    run.published += all.length
  }
  try {
    if ((await bringForwardEnded(life)) > 0) await life.wake()
    const position = await tellWatches(life, await followLog(life, send))
    const isHourly = secondsOf(life) - position.until >= HOUR_SECONDS + LAG_SECONDS
    await sendSignals(life, send, isHourly)
    if (isHourly) run.settled = await followHours(life, send, position)
    const unused = isHourly || life.isNew ? await endUnusedKeys(life, send) : undefined
    return { ...run, ...(unused && { unused }) }
  } catch (error) {
    if (error instanceof OutOfTime) return { ...run, remaining: true }
    throw error
  }
}

const secondsOf = ({ now }: Pick<Lifecycle, 'now'>): number => unixSeconds(now())

/**
 * Tells watches of the keys that expired up to a minute ago, and returns the new position. It is stored now only if there were
 * any, and otherwise with its next move: to look at an empty window again costs less, and the keys know what was told.
 */
async function tellWatches(life: Lifecycle, start: Position): Promise<Position> {
  const touched = Math.max(start.touched, secondsOf(life) - LAG_SECONDS)
  const seen = touched > start.touched ? await touchExpired(life, { after: start.touched, to: touched }) : 0
  return seen === 0 ? { ...start, touched } : moveOn(life, start, { ...start, touched })
}

/** Publishes the changes of the log from the position to the newest one. Returns the new position. */
async function followLog(life: Lifecycle, send: Send): Promise<Position> {
  for (let position = await startPosition(life); ; ) {
    const batch = await readLog(life, position)
    // Before the events: a bus that fails delays no end.
    if ((await bringForwardChanged(life, batch.changes)) > 0) await life.wake()
    await send(batch.changes.flatMap((change) => occurrences(change, life.limits)))
    await forgetHistories(life, batch.changes)
    await forgetDeleted(life, batch.changes)
    const anew = batch.lost && { since: secondsOf(life) }
    if (batch.rv !== position.rv) position = await moveOn(life, position, { ...position, rv: batch.rv, ...anew })
    if (!batch.more) return position
    if (!life.hasTime()) throw new OutOfTime()
  }
}

/**
 * Returns the position, or makes the first one: at the beginning of the log, or at its end if the beginning has expired. One that is
 * ahead was made by a clock that was wrong: until that time came, nothing hourly would happen.
 */
async function startPosition(life: Lifecycle): Promise<Position> {
  const { storage, store } = life
  const known = await readPosition(life)
  const now = secondsOf(life)
  if (known)
    return known.until > now + HOUR_SECONDS ? moveOn(life, known, { ...known, until: now, touched: now }) : known
  const rv = await storage.changes(store.kind.table, FIRST).then(
    () => FIRST,
    (error: unknown) => (isExpired(error) ? storage.revision(store.kind.table) : Promise.reject(error)),
  )
  return moveOn(life, undefined, {
    rv,
    until: now,
    touched: now,
    since: rv === FIRST ? 0 : now,
  })
}

/** The revision before all changes. */
const FIRST = 1

/** Moves the position, or returns the one to which another run has moved it. */
async function moveOn(life: Lifecycle, from: Position | undefined, to: Omit<Position, 'item'>): Promise<Position> {
  const position = (await movePosition(life, from, to)) ?? (await readPosition(life))
  if (!position) throw new Error('the position of the publisher of events is gone')
  return position
}

/** Reads the changes after the position. If the log no longer reaches back, reports that and continues at its end. */
async function readLog(life: Lifecycle, { rv }: Position): Promise<ChangeBatch & { lost?: true }> {
  const { storage, store } = life
  try {
    return await storage.changes(store.kind.table, rv)
  } catch (error) {
    if (!isExpired(error)) throw error
    const to = await storage.revision(store.kind.table)
    life.lost(rv, to)
    return { changes: [], rv: to, more: true, lost: true }
  }
}

/** A position above the newest revision is that of another table, from before a restore. */
const isExpired = (error: unknown): boolean =>
  error instanceof StorageError && (error.code === 'Expired' || error.code === 'TooNew')

/** Publishes expiries and stalled rotations up to a minute ago, and settles rotations. Returns how many. */
async function followHours(life: Lifecycle, send: Send, start: Position): Promise<number> {
  const end = secondsOf(life) - LAG_SECONDS
  for (let position = start; position.until < end; ) {
    const window = { after: position.until, to: Math.min(position.until + STRIDE_SECONDS, end) }
    await sendExpiries(life, window, send)
    await sendStalled(life, window, send)
    const moved = await movePosition(life, position, { ...position, until: window.to })
    // Another run has moved the position, and does the same.
    if (!moved) return 0
    position = moved
    if (!life.hasTime()) throw new OutOfTime()
  }
  return settleRotations(life)
}
