/** Processes many objects in parallel, within the time of one invocation. */

/** The invocation has no time left; the next one continues. */
export class OutOfTime extends Error {
  constructor() {
    super('the invocation ran out of time')
    this.name = 'OutOfTime'
  }
}

/** Reports whether the invocation has time for more work. */
export type HasTime = () => boolean

/** Enough to hide the latency of the table, few enough not to slow down user requests. */
const fewAtOnce = 8

/**
 * Runs `work` for each item, `width` at a time. After a failure it continues with the other items, then throws the error of
 * the first item that failed. Starts no more work once `hasTime` returns false, and throws OutOfTime if items remain.
 */
export async function forEach<T>(
  items: Iterable<T>,
  hasTime: HasTime,
  work: (item: T) => Promise<unknown>,
  width = fewAtOnce,
): Promise<void> {
  let failed: { place: number; error: unknown } | undefined
  const fail = (place: number, error: unknown): void => {
    if (failed === undefined || place < failed.place) failed = { place, error }
  }
  let started = 0
  const iterator = items[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      const place = started++
      if (!hasTime()) {
        fail(place, new OutOfTime())
        return
      }
      await work(next.value).catch((error: unknown) => fail(place, error))
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  if (failed !== undefined) throw failed.error
}
