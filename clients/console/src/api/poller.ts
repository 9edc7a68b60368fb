/**
 * Keeps data fresh by asking again and again while somebody looks: only while the page is visible and has the focus. After a
 * failure it keeps the data and asks less often. A watch would hold a function of the server for as long.
 */
import { MINUTE_MS } from '../../../../lib/engine/meta/value/durations.ts'

const SHORTEST_MS = 15_000
/** With 150 keys in 15 seconds, a page reads some 10 KB a second at most, which a slow line can bear. */
const KEYS_A_STEP = 150

/** Returns the milliseconds between two readings of a list of so many keys. Long lists are read less often. */
export const pollEvery = (count: number): number => SHORTEST_MS * Math.max(1, Math.ceil(count / KEYS_A_STEP))

/** What a poller sees of its surroundings. */
export interface Surroundings {
  /** Whether the page is visible and has the focus. */
  isAttended(): boolean
  /** Calls back when that may have changed. Returns a function that ends this. */
  onAttention(callback: () => void): () => void
  /** Calls back once, after some milliseconds. Returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void
  now(): Date
}

export interface Snapshot<T> {
  data?: T
  /** When the data was read. */
  at?: Date
  /** Why the last attempt failed. The data is that of the last one that succeeded. */
  error?: unknown
  isLoading: boolean
}

export interface Poller<T> {
  readonly snapshot: Snapshot<T>
  /** Asks now, for example after an own change. Never rejects: the snapshot has the error. */
  refresh(): Promise<void>
  stop(): void
}

export interface PollerSettings<T> {
  /** May show a first part of the data before it returns all of it. */
  load(signal: AbortSignal, onPart: (part: T) => void): Promise<T>
  /** Milliseconds between the end of an attempt and the next one. */
  every: number
  /** What an earlier poller of the same data knew. */
  start?: Snapshot<T>
  onChange(snapshot: Snapshot<T>): void
  surroundings: Surroundings
}

const LONGEST_MS = 2 * MINUTE_MS

/** Returns the milliseconds until the next attempt: twice as long after each failure, up to two minutes. */
export const delayAfter = (every: number, failures: number): number =>
  Math.max(every, Math.min(every * 2 ** failures, LONGEST_MS))

/** Starts at once if there is no data or if it is older than `every`. */
export function createPoller<T>({ load, every, start, onChange, surroundings }: PollerSettings<T>): Poller<T> {
  let snapshot: Snapshot<T> = { ...start, isLoading: false }
  let failures = 0
  let running: AbortController | undefined
  let cancel = (): void => {}
  let isStopped = false

  const change = (next: Snapshot<T>): void => {
    snapshot = next
    onChange(next)
  }
  const isDue = (): boolean => {
    const age = snapshot.at && surroundings.now().getTime() - snapshot.at.getTime()
    // The data is from the future if the clock was set back meanwhile.
    return age === undefined || age < 0 || age >= delayAfter(every, failures)
  }

  const plan = (): void => {
    cancel()
    if (!isStopped) cancel = surroundings.after(delayAfter(every, failures), attend)
  }
  /** Asks if somebody looks and it is time, otherwise later. */
  const attend = (): void => {
    if (isStopped || running) return
    if (!surroundings.isAttended()) cancel()
    else if (isDue() || failures > 0) void ask()
    else plan()
  }
  const ask = async (): Promise<void> => {
    cancel()
    running?.abort()
    const own = new AbortController()
    running = own
    change({ ...snapshot, isLoading: true })
    try {
      const data = await load(own.signal, (part) => {
        // A part is more than nothing, and less than what was read before.
        if (running === own && snapshot.at === undefined) change({ data: part, isLoading: true })
      })
      if (running !== own) return
      failures = 0
      running = undefined
      change({ data, at: surroundings.now(), isLoading: false })
    } catch (error) {
      if (running !== own) return
      failures += 1
      running = undefined
      change({ ...snapshot, error, isLoading: false })
    }
    plan()
  }

  const forget = surroundings.onAttention(attend)
  if (isDue()) void ask()
  else plan()
  return {
    get snapshot() {
      return snapshot
    },
    refresh: ask,
    stop() {
      isStopped = true
      running?.abort()
      running = undefined
      cancel()
      forget()
    },
  }
}
