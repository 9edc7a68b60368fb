/** Work on many objects at once, as much as one invocation may do. */

/** The time of an invocation is used up: what is left is done by the next one. */
export class OutOfTime extends Error {
  constructor() {
    super('the invocation ends before the work does')
    this.name = 'OutOfTime'
  }
}

/** Whether there is time for more. */
export type GoOn = () => boolean

/** Enough to hide the latency of the table, few enough to leave it to the requests of people. */
const fewAtOnce = 8

/**
 * Runs `work` for each, `width` at once. A failure of one keeps no other from being done; in the end the first one is
 * thrown. Begins nothing any more once the time is up, and throws OutOfTime unless that was all.
 */
export async function forEach<T>(
  items: Iterable<T>,
  goOn: GoOn,
  work: (item: T) => Promise<void>,
  width = fewAtOnce,
): Promise<void> {
  const failures: unknown[] = []
  const iterator = items[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      if (!goOn()) {
        failures.push(new OutOfTime())
        return
      }
      await work(next.value).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  if (failures.length > 0) throw failures[0]
}
