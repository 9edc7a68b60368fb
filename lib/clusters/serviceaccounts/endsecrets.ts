/**
 * Removes the Secrets to which tokens of service accounts are bound, when the key gives no access any more. Each record says when to look
 * at it next: at once after something that ends keys, and otherwise from time to time, so that no end is missed whatever happens.
 * A record that lives is judged by its key as it is then. Runs at the same time are safe.
 *
 * Places are worked at side by side, and in each place ends come before what is only judged again. A cluster that does not confirm is left
 * for the next run after a few attempts, so that nothing waits for it and few of its records are read.
 *
 * A request that was allowed before the end may still make a Secret. So a record is gone only when the Secret was removed once more after
 * the time that a request has.
 */

import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import { forEach, type HasTime, OutOfTime } from '../../engine/registry/parallel.ts'
import type { CompanionItem, Storage } from '../../engine/storage/interface.ts'
import { getCompanion } from '../../engine/storage/readcompanions.ts'
import {
  type Bound,
  boundItem,
  endedIn,
  goneItem,
  isPlaceDue,
  livingIn,
  PLACES,
  placeItem,
  readBound,
} from '../../keys/credential/boundsecrets.ts'
import { REQUEST_SECONDS } from '../../keys/credential/keystatus.ts'
import { EVER, indexEntries } from '../../keys/indexpages.ts'

export interface BoundSecrets {
  storage: Storage
  now(): Date
  hasTime: HasTime
  deadline: Deadline
  /** Returns until when the key gives access by this Secret, in unix seconds: Infinity for ever, 0 if it gives none. */
  judge(bound: Bound, place: string): Promise<number>
  /** Removes the Secret. Rejects unless the cluster confirms it. */
  remove(bound: Bound, place: string): Promise<void>
  /** Called when the cluster has not confirmed the end of a key. */
  unconfirmed(bound: Bound, place: string, error: unknown): Promise<void>
}

export interface EndedSecrets {
  /** Items that were due, as far as they were looked at. */
  seen: number
  /** Items whose keys give access. */
  kept: number
  /** Secrets that are gone for good. */
  removed: number
  /** Secrets that were removed, and are removed once more. */
  pending: number
  /** Items whose cluster has not confirmed the removal, and whose tokens may work. */
  unconfirmed: number
  /** The places of these. */
  places: string[]
  /** Items that could not be judged or written. */
  failed: number
  /** One of the errors. */
  error?: unknown
  /** Whether time ran out before the end. */
  remaining: boolean
}

/** How often the key of an item is judged again although nothing says that it has ended. */
const RECHECK_SECONDS = 300
/** Between two attempts. The schedule looks every minute. */
const LONGEST_PAUSE_SECONDS = 60
/** After so many failures, the other items of a cluster wait for the next run. */
const MOST_FAILURES = 3
/** By so much later than `until` a token may expire by our clock, if the clock of its cluster is slow. */
export const CLOCK_SECONDS = 3600
/** So many places are worked at side by side: enough that some which do not answer delay no other. */
const PLACES_AT_ONCE = 64

/** Looks at all items that are due. One cluster never waits for another. Throws if the table cannot be read. */
export async function endSecrets(work: BoundSecrets): Promise<EndedSecrets> {
  const done: EndedSecrets = {
    seen: 0,
    kept: 0,
    removed: 0,
    pending: 0,
    unconfirmed: 0,
    places: [],
    failed: 0,
    remaining: false,
  }
  for await (const places of indexEntries(work, PLACES, EVER))
    await forEach(
      places,
      () => true,
      (place) => endInPlace(work, place, done),
      PLACES_AT_ONCE,
    )
  return done
}

/** What a run knows of a place. */
interface PlaceRun {
  place: string
  seen: number
  failures: number
}

async function endInPlace(
  work: BoundSecrets,
  { sk: place, attributes }: CompanionItem,
  done: EndedSecrets,
): Promise<void> {
  const run: PlaceRun = { place, seen: 0, failures: 0 }
  try {
    for await (const entries of duePages(work, livingIn(place))) {
      await endDue(work, run, done)
      await lookAt(work, run, entries, done)
    }
    const at = unixSeconds(work.now())
    if (run.seen > 0 && isPlaceDue(Number(attributes.expiry), at))
      await work.storage.writeCompanion(placeItem(place, at), work)
  } catch (error) {
    note(error, done)
  }
  if (run.failures > 0) done.places.push(place)
}

function note(error: unknown, done: EndedSecrets): void {
  if (error instanceof OutOfTime) done.remaining = true
  else {
    done.failed++
    done.error ??= error
  }
}

const duePages = (work: BoundSecrets, partition: string) =>
  indexEntries(work, partition, { after: 0, to: unixSeconds(work.now()) })

/** Reports whether the cluster of the place is left for the next run. */
const isLeft = ({ failures }: PlaceRun): boolean => failures >= MOST_FAILURES

/** Removes the Secrets of the place that are due, as long as its cluster confirms. */
async function endDue(work: BoundSecrets, run: PlaceRun, done: EndedSecrets): Promise<void> {
  if (isLeft(run)) return
  for await (const entries of duePages(work, endedIn(run.place))) {
    await lookAt(work, run, entries, done, () => isLeft(run))
    if (isLeft(run)) return
  }
}

/** Looks at these records. One that cannot be read or written does not keep others from being looked at. */
async function lookAt(
  work: BoundSecrets,
  run: PlaceRun,
  entries: CompanionItem[],
  done: EndedSecrets,
  isOver = () => false,
): Promise<void> {
  await forEach(entries, work.hasTime, async (entry) => {
    if (isOver()) return
    const item = await getCompanion(work.storage, entry)
    const bound = item && readBound(item)
    if (!item || !bound || bound.gone || (bound.expiry ?? 0) > unixSeconds(work.now())) return
    run.seen++
    done.seen++
    const outcome = await endOne(work, run, item, bound)
    if (outcome === 'unconfirmed') run.failures++
    if (outcome !== undefined) done[outcome]++
  }).catch((error: unknown) => note(error, done))
}

type Outcome = 'kept' | 'removed' | 'pending' | 'unconfirmed'

/** Returns undefined if somebody else has written the item meanwhile, and looks at it again. */
async function endOne(
  work: BoundSecrets,
  run: PlaceRun,
  read: CompanionItem,
  bound: Bound,
): Promise<Outcome | undefined> {
  const { storage, now, deadline } = work
  const { place } = run
  let item = read
  const write = async (next: CompanionItem): Promise<boolean> => {
    const written = await storage.writeCompanion({ ...next, when: { is: item } }, { deadline })
    if (written) item = written
    return written !== undefined
  }
  const at = unixSeconds(now())
  if (bound.ended === undefined) {
    const until = Math.min(await work.judge(bound, place), bound.until)
    if (until > at)
      return (await write(boundItem(item, bound, Math.min(until, at + RECHECK_SECONDS)))) ? 'kept' : undefined
  }
  const over: Bound = { ...bound, ended: bound.ended ?? at }
  const { ended = at, attempts = 0 } = over
  // Written first: nothing may be bound to the Secret from now on, whatever becomes of the key.
  if (bound.ended === undefined && !(await write(boundItem(item, over, at)))) return undefined
  // It is due: the next run begins with it.
  if (isLeft(run)) return 'unconfirmed'
  try {
    await work.remove(over, place)
  } catch (error) {
    if (at > bound.until + CLOCK_SECONDS) return (await write(goneItem(item, over, at))) ? 'removed' : undefined
    const pause = Math.min(LONGEST_PAUSE_SECONDS, 5 * 2 ** Math.min(attempts, 10))
    await work.unconfirmed(over, place, error)
    await write(boundItem(item, { ...over, attempts: attempts + 1, failure: failureOf(error) }, at + pause))
    return 'unconfirmed'
  }
  const { failure: _, ...removed } = over
  const confirmed: Bound = { ...removed, confirmed: true }
  if (at >= ended + REQUEST_SECONDS) return (await write(goneItem(item, confirmed, at))) ? 'removed' : undefined
  return (await write(boundItem(item, confirmed, ended + REQUEST_SECONDS))) ? 'pending' : undefined
}

const failureOf = (error: unknown): string => {
  const { failure } = error as { failure?: unknown }
  return typeof failure === 'string' && failure !== '' ? failure : 'failed'
}
