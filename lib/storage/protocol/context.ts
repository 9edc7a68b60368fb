/** What every operation needs: the items, a clock, randomness; and how often something is tried again. */
import type { Deadline } from '../../meta/errors/deadline.ts'
import { StorageError } from '../errors.ts'
import { Fault, type Items } from '../items.ts'
import { maxTries, maxWriteTime } from './constants.ts'

export interface Context {
  items: Items
  /** Unix ms. */
  now(): number
  /** Milliseconds of a clock that never jumps; only differences count. */
  elapsed(): number
  /** In [0, 1). */
  random(): number
  sleep(ms: number): Promise<void>
  /** When gaps of the log were seen first: `resource#revision` to `elapsed()`. */
  gaps: Map<string, number>
}

/**
 * Counts one operation's tries. Each call waits before another try: not before the second, then random up to 8, 16 …
 * 128 ms. Throws Busy or Unavailable when the tries or the time are spent.
 */
export type Pause = (cause?: unknown) => Promise<void>

type Clock = Pick<Context, 'elapsed' | 'random' | 'sleep'>

export function tries({ elapsed, random, sleep }: Clock): Pause {
  const began = elapsed()
  let count = 0
  return async (cause) => {
    count++
    if (count >= maxTries || elapsed() - began >= maxWriteTime) throw gaveUp(cause)
    if (count > 1) await sleep(backoff(count - 2, random))
  }
}

/** How long to wait before the next try, the first time with `count` 0: random up to 8, 16 … 128 ms. */
export const backoff = (count: number, random: Clock['random']): number => random() * 8 * 2 ** Math.min(count, 4)

function gaveUp(cause: unknown): StorageError {
  const silent = cause instanceof Fault && cause.kind === 'unanswered'
  return silent
    ? new StorageError('Unavailable', 'the table does not answer', { cause })
    : new StorageError('Busy', 'too many tries', { cause })
}

/** Throws TooLate once the deadline is over. */
export function demandTimeLeft(deadline: Deadline): void {
  if (deadline() <= 0) throw new StorageError('TooLate', 'the time of the request is over')
}

/**
 * The same items, but what may be done twice at any time is tried again after a Fault: everything except slots and
 * transactions, which have a deadline.
 */
export function persistent(items: Items, clock: Clock): Items {
  async function persist<T>(operation: () => Promise<T>): Promise<T> {
    const pause = tries(clock)
    for (;;) {
      try {
        return await operation()
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        await pause(error)
      }
    }
  }
  return {
    get: (key) => persist(() => items.get(key)),
    batchGet: (keys, attributes) => persist(() => items.batchGet(keys, attributes)),
    query: (query) => persist(() => items.query(query)),
    queryIndex: (query) => persist(() => items.queryIndex(query)),
    allocate: (key, now) => persist(() => items.allocate(key, now)),
    settle: (key, to) => persist(() => items.settle(key, to)),
    confirm: (key, found) => persist(() => items.confirm(key, found)),
    putIfAbsent: (item, deadline) => items.putIfAbsent(item, deadline),
    transact: (writes, deadline) => items.transact(writes, deadline),
  }
}
