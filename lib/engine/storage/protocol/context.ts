/** Provides the items, the clock and randomness to every operation, and retries with backoff. */
import type { Deadline } from '../../meta/errors/deadline.ts'
import { defined } from '../../meta/value/defined.ts'
import { StorageError } from '../errors.ts'
import { type Items, ItemsFault, type SingleWrite } from '../items.ts'
import { maxTries, maxWriteTime, writerDeadline } from './constants.ts'

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
 * Wraps items so that operations without a deadline are retried after an ItemsFault.
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
    ...defined({ isUnmetered: items.isUnmetered }),
    get: (key, isRecent) => persist(() => items.get(key, isRecent)),
    batchGet: (keys, attributes) => persist(() => items.batchGet(keys, attributes)),
    query: (query) => persist(() => items.query(query)),
    allocate: (key, now) => persist(() => items.allocate(key, now)),
    write: (one, deadline) => items.write(one, deadline),
    transact: (writes, deadline) => items.transact(writes, deadline),
  }
}

/** For what does no harm whenever it arrives. */
export const endless: Deadline = () => Number.POSITIVE_INFINITY

/** Repeats an attempt, which may be sent until `end` (unix ms), until it returns whether it has written. */
export async function untilAnswered(
  context: Context,
  deadline: Deadline,
  attempt: (end: number) => Promise<boolean | undefined>,
  onFault: (fault: ItemsFault) => void = () => {},
): Promise<boolean> {
  for (const pause = createPause(context); ; ) {
    refuseLateWrite(deadline)
    try {
      const hasWritten = await attempt(context.now() + Math.min(writerDeadline, deadline()))
      if (hasWritten !== undefined) return hasWritten
      await pause()
    } catch (error) {
      if (!(error instanceof ItemsFault)) throw error
      onFault(error)
      await pause(error)
    }
  }
}

/** Repeats a write until it is answered, and returns whether it was made. */
export const persist = (context: Context, one: SingleWrite, deadline: Deadline = endless): Promise<boolean> =>
  untilAnswered(context, deadline, async (end) => (await context.items.write(one, end)).done)
