/** What keeps more work away than can be done: the stage's throttling, and no more requests at once than functions may run. */

/** API Gateway's token bucket of a stage. */
export interface Limits {
  /** Tokens that come back in a second. */
  rate: number
  /** Tokens that it holds. */
  burst: number
}

/**
 * Requests that this process works on at once: AWS has a quota of concurrent executions. More of them wait for each other until
 * the functions' time-outs towards the table run out: refused after the work instead of before (docs/performance.md).
 */
const atOnce = 64

export interface Throttle {
  /** To be called when the request is done; undefined for one that is refused. */
  admit(): (() => void) | undefined
}

/** `elapsed`: milliseconds of a clock that never jumps. Without limits there is no bucket. */
export function createThrottle(limits: Limits | undefined, elapsed: () => number): Throttle {
  let tokens = limits?.burst ?? 0
  let filled = elapsed()
  let working = 0
  const take = ({ rate, burst }: Limits): boolean => {
    const now = elapsed()
    tokens = Math.min(burst, tokens + ((now - filled) * rate) / 1000)
    filled = now
    if (tokens < 1) return false
    tokens--
    return true
  }
  return {
    admit() {
      if (working >= atOnce || (limits && !take(limits))) return undefined
      working++
      let isDone = false
      return () => {
        if (!isDone) working--
        isDone = true
      }
    },
  }
}
