/** Provides the items, the clock and randomness to every operation, and retries with backoff. */
import type { Deadline } from '../../meta/errors/deadline.ts'
import { StorageError } from '../errors.ts'
import { type Items, ItemsFault } from '../items.ts'
import { maxTries, maxWriteTime } from './constants.ts'

export interface Context {
  items: Items
  /** Unix ms. */
  now(): number
  /** Milliseconds of a monotonic clock. */
  elapsed(): number
  /** In [0, 1). */
  random(): number
  sleep(ms: number): Promise<void>
  /** When each gap of the log was first seen: `resource#revision` to `elapsed()`. */
  gaps: Map<string, number>
}

type Clock = Pick<Context, 'elapsed' | 'random' | 'sleep'>

/**
 * Returns a function that waits before the next attempt of an operation: not before the second one, then a random time up to 8,
 * 16 … 128 ms. It throws Busy or Unavailable when the attempts or the time are used up, and Full at once: only people make room.
 */
export function createPause({ elapsed, random, sleep }: Clock): (cause?: unknown) => Promise<void> {
  const began = elapsed()
  let count = 0
  return async (cause) => {
    if (isFull(cause)) throw fullError(cause)
    count++
    if (count >= maxTries || elapsed() - began >= maxWriteTime) throw gaveUpError(cause)
    if (count > 1) await sleep(backoff(count - 2, random))
  }
}

/** Returns the wait before the next attempt: random, up to 8 ms for `count` 0, then 16 … 128 ms. */
export const backoff = (count: number, random: Clock['random']): number => random() * 8 * 2 ** Math.min(count, 4)

/** Reports whether the store has refused a write for lack of room, so that it certainly has no effect. */
export const isFull = (fault: unknown): boolean => fault instanceof ItemsFault && fault.kind === 'full'

export const fullError = (cause: unknown): StorageError => new StorageError('Full', 'the store has no room', { cause })

function gaveUpError(cause: unknown): StorageError {
  const silent = cause instanceof ItemsFault && cause.kind === 'unanswered'
  return silent
    ? new StorageError('Unavailable', 'the table does not answer', { cause })
    : new StorageError('Busy', 'too many tries', { cause })
}

/** Returns the id of a write. A slot or a side item has one writer at a time, so 100 random bits are plenty. */
export const newId = ({ random }: Pick<Context, 'random'>): string =>
  [random(), random()].map((one) => Math.floor(one * 2 ** 52).toString(36)).join('-')

/** Throws TooLate after the deadline. */
export function refuseLateWrite(deadline: Deadline): void {
  if (deadline() <= 0) throw new StorageError('TooLate', 'the deadline of the request has passed')
}

/**
 * Wraps items so that idempotent operations are retried after an ItemsFault: all except puts of slots and transactions, which
 * have a deadline.
 */
export function withRetries(items: Items, clock: Clock): Items {
  async function persist<T>(operation: () => Promise<T>): Promise<T> {
    const pause = createPause(clock)
    for (;;) {
      try {
        return await operation()
      } catch (error) {
        if (!(error instanceof ItemsFault)) throw error
        await pause(error)
      }
    }
  }
  return {
    limits: items.limits,
    get: (key) => persist(() => items.get(key)),
    getRecent: (key) => persist(() => items.getRecent(key)),
    batchGet: (keys, attributes) => persist(() => items.batchGet(keys, attributes)),
    query: (query) => persist(() => items.query(query)),
    queryIndex: (query) => persist(() => items.queryIndex(query)),
    allocate: (key, now) => persist(() => items.allocate(key, now)),
    settle: (key, to) => persist(() => items.settle(key, to)),
    confirm: (key, found) => persist(() => items.confirm(key, found)),
    put: (item, deadline) => items.put(item, deadline),
    write: (one, deadline) => items.write(one, deadline),
    putIfAbsent: (item, deadline) => items.putIfAbsent(item, deadline),
    transact: (writes, deadline) => items.transact(writes, deadline),
  }
}
