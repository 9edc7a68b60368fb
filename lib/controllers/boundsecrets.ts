/**
 * Removes the Secrets to which tokens of service accounts are bound, when the key gives no access any more. Each item says when to look
 * at it next: at once after something that ends keys, and otherwise from time to time, so that no end is missed whatever happens.
 * Every item is judged by its key as it is then. Runs at the same time are safe.
 *
 * A request that was allowed before the end may still make a Secret. So an item is gone only when the Secret was removed once more after
 * the time that a request has.
 */
import {
  BOUND_INDEX,
  type Bound,
  boundAttributes,
  goneAttributes,
  placeOf,
  readBound,
} from '../authentication/boundsecrets.ts'
import { REQUEST_SECONDS } from '../authentication/keystatus.ts'
import { unixSeconds } from '../meta/encoding/time.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import { forEach, type HasTime, OutOfTime } from '../registry/parallel.ts'
import type { CompanionItem, Storage } from '../storage/interface.ts'
import { getCompanion } from '../storage/readcompanions.ts'
import { indexEntries } from './indexpages.ts'

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
  /** Items that were due. */
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
const MOST_ITEMS = 20_000

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
  const due: CompanionItem[] = []
  const window = { after: 0, to: unixSeconds(work.now()) }
  for await (const entries of indexEntries(work, BOUND_INDEX, window)) {
    due.push(...entries)
    if (due.length >= MOST_ITEMS) break
  }
  done.seen = due.length
  const ofPlaces = Map.groupBy(due, placeOf)
  await Promise.all([...ofPlaces].map(([place, entries]) => endInPlace(work, place, entries, done)))
  return done
}

async function endInPlace(
  work: BoundSecrets,
  place: string,
  entries: CompanionItem[],
  done: EndedSecrets,
): Promise<void> {
  let failures = 0
  const mayTry = () => failures < MOST_FAILURES
  try {
    await forEach(entries, work.hasTime, async (entry) => {
      const item = await getCompanion(work.storage, entry)
      const bound = item && readBound(item)
      if (!item || !bound || bound.gone || (bound.expiry ?? 0) > unixSeconds(work.now())) return
      const outcome = await endOne(work, place, item, bound, mayTry)
      if (outcome === 'unconfirmed') failures++
      if (outcome !== undefined) done[outcome]++
    })
  } catch (error) {
    if (error instanceof OutOfTime) done.remaining = true
    else {
      done.failed++
      done.error ??= error
    }
  }
  if (failures > 0) done.places.push(place)
}

type Outcome = 'kept' | 'removed' | 'pending' | 'unconfirmed'

/** Returns undefined if somebody else has written the item meanwhile, and looks at it again. */
async function endOne(
  work: BoundSecrets,
  place: string,
  read: CompanionItem,
  bound: Bound,
  mayTry: () => boolean,
): Promise<Outcome | undefined> {
  const { storage, now, deadline } = work
  let item = read
  const write = async (attributes: CompanionItem['attributes']): Promise<boolean> => {
    const { pk, sk } = item
    const written = await storage.writeCompanion({ pk, sk, attributes, when: { is: item } }, { deadline })
    if (written) item = written
    return written !== undefined
  }
  const at = unixSeconds(now())
  if (bound.ended === undefined) {
    const until = Math.min(await work.judge(bound, place), bound.until)
    if (until > at)
      return (await write(boundAttributes(bound, Math.min(until, at + RECHECK_SECONDS)))) ? 'kept' : undefined
  }
  const over: Bound = { ...bound, ended: bound.ended ?? at }
  const { ended = at, attempts = 0 } = over
  // Written first: nothing may be bound to the Secret from now on, whatever becomes of the key.
  if (bound.ended === undefined && !(await write(boundAttributes(over, at)))) return undefined
  if (!mayTry()) return 'unconfirmed'
  try {
    await work.remove(over, place)
  } catch (error) {
    if (at > bound.until + CLOCK_SECONDS) return (await write(goneAttributes(over, at))) ? 'removed' : undefined
    const pause = Math.min(LONGEST_PAUSE_SECONDS, 5 * 2 ** Math.min(attempts, 10))
    await work.unconfirmed(over, place, error)
    await write(boundAttributes({ ...over, attempts: attempts + 1, failure: failureOf(error) }, at + pause))
    return 'unconfirmed'
  }
  const { failure: _, ...removed } = over
  const confirmed: Bound = { ...removed, confirmed: true }
  if (at >= ended + REQUEST_SECONDS) return (await write(goneAttributes(confirmed, at))) ? 'removed' : undefined
  return (await write(boundAttributes(confirmed, ended + REQUEST_SECONDS))) ? 'pending' : undefined
}

const failureOf = (error: unknown): string => {
  const { failure } = error as { failure?: unknown }
  return typeof failure === 'string' && failure !== '' ? failure : 'failed'
}
