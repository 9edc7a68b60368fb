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
 * Runs `work` for each item, `width` at a time. After a failure it continues with the other items, then throws the first
 * error. Starts no more work once `hasTime` returns false, and throws OutOfTime if items remain.
 */
export async function forEach<T>(
  items: Iterable<T>,
  hasTime: HasTime,
  work: (item: T) => Promise<void>,
  width = fewAtOnce,
): Promise<void> {
  const failures: unknown[] = []
  const iterator = items[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      if (!hasTime()) {
        failures.push(new OutOfTime())
        return
      }
      await work(next.value).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  if (failures.length > 0) throw failures[0]
}
