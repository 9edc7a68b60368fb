/** Measures the times of many calls from concurrent callers, each with one call at a time. */

/** Returns the value below which this share of the values is; NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export interface Timed {
  /** Completed calls. */
  calls: number
  seconds: number
  /** Calls per second. */
  rate: number
  /** Milliseconds. */
  p50: number
  p99: number
}

/**
 * Stops when the time is up or when the work returns `ended`. Refused calls (`refused`) do not count as completed. Throws
 * the errors of calls.
 */
export async function measureCalls(
  callers: number,
  seconds: number,
  work: (caller: number, turn: number) => Promise<unknown>,
): Promise<Timed> {
  const times: number[] = []
  const began = performance.now()
  const end = began + seconds * 1000
  const caller = async (_: unknown, index: number): Promise<void> => {
    for (let turn = 0; performance.now() < end; turn++) {
      const start = performance.now()
      const outcome = await work(index, turn)
      if (outcome === 'ended') return
      if (outcome !== 'refused') times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const took = (performance.now() - began) / 1000
  return {
    calls: times.length,
    seconds: took,
    rate: times.length / took,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
}

/** Runs the work once for each number below `count`, with `width` concurrent runs. */
export async function runConcurrently(
  count: number,
  width: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, worker))
}

/** Returns the milliseconds of one run. */
export async function timeRun(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
