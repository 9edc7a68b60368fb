/** Limits the load: throttles like the stage, and queues requests in front of the functions. */

/** A token bucket of API Gateway: of a stage, or of one of its methods. */
export interface Limits {
  /** Tokens added per second. */
  rate: number
  /** Capacity of the bucket. */
  burst: number
}

/**
 * Maximum number of concurrent requests: as many heavy ones as this process completes in a second. With more, requests would
 * delay each other until calls to the table time out, and fail after the work instead of before.
 */
const atOnce = 16
/**
 * Maximum length of the queue, which bounds the memory of a flood. It is far more than the connections of busy clients. With the running
 * requests it equals the default concurrency of an AWS account.
 */
const inLine = 1000 - atOnce

export interface Throttle {
  /**
   * Resolves when the request may start, with a function to call at its end; with undefined when it is refused or has left. A request
   * waits for its turn for as long as its client does: `onLeft` registers what to call when the client is gone. A method with limits of
   * its own does not use up those of the stage.
   */
  admit(method?: string, onLeft?: (leave: () => void) => void): Promise<(() => void) | undefined>
}

/**
 * `elapsed` returns the milliseconds of a monotonic clock. Without limits, only the queue applies. `methods` are the limits
 * of methods that have their own.
 */
export function createThrottle(
  limits: Limits | undefined,
  elapsed: () => number,
  methods: ReadonlyMap<string, Limits> = new Map(),
): Throttle {
  const takeOfStage = limits && createBucket(limits, elapsed)
  const takeOf = new Map([...methods].map(([method, own]) => [method, createBucket(own, elapsed)]))
  let working = 0
  const waiting = new Set<(admitted: (() => void) | undefined) => void>()

  const begin = (): (() => void) => {
    working++
    let isDone = false
    return () => {
      if (isDone) return
      isDone = true
      working--
      const [first] = waiting
      if (first === undefined) return
      waiting.delete(first)
      first(begin())
    }
  }

  return {
    async admit(method = '', onLeft = () => {}) {
      const take = takeOf.get(method) ?? takeOfStage
      if (take && !take()) return undefined
      if (working < atOnce) return begin()
      if (waiting.size >= inLine) return undefined
      return new Promise((turn) => {
        waiting.add(turn)
        onLeft(() => {
          if (waiting.delete(turn)) turn(undefined)
        })
      })
    },
  }
}

/** Returns a function that takes a token and reports whether there was one. */
function createBucket({ rate, burst }: Limits, elapsed: () => number): () => boolean {
  let tokens = burst
  let filled = elapsed()
  return () => {
    const now = elapsed()
    tokens = Math.min(burst, tokens + ((now - filled) * rate) / 1000)
    filled = now
    if (tokens < 1) return false
    tokens--
    return true
  }
}
