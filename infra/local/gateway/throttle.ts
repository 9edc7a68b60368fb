/** What keeps more work away than can be done: the stage's throttling, and a line before the functions that ends somewhere. */

/** API Gateway's token bucket of a stage. */
export interface Limits {
  /** Tokens that come back in a second. */
  rate: number
  /** Tokens that it holds. */
  burst: number
}

/**
 * Requests that this process works on at once, as many as it can do in a second where they are heavy: more would wait for each
 * other until the functions' time-outs towards the table run out, and be refused after the work instead of before.
 */
const atOnce = 16
/** So many more wait for their turn: together as many as an AWS account runs at once by default. */
const inLine = 1000 - atOnce
/** Milliseconds after which a turn comes too late. */
const patience = 5000

export interface Throttle {
  /** When its turn has come: what is to be called when the request is done; undefined for one that is refused. */
  admit(): Promise<(() => void) | undefined>
}

/** `elapsed`: milliseconds of a clock that never jumps. Without limits there is no bucket. */
export function createThrottle(limits: Limits | undefined, elapsed: () => number): Throttle {
  let tokens = limits?.burst ?? 0
  let filled = elapsed()
  let working = 0
  const waiting: { since: number; turn(admitted: (() => void) | undefined): void }[] = []

  const take = ({ rate, burst }: Limits): boolean => {
    const now = elapsed()
    tokens = Math.min(burst, tokens + ((now - filled) * rate) / 1000)
    filled = now
    if (tokens < 1) return false
    tokens--
    return true
  }
  const begin = (): (() => void) => {
    working++
    let isDone = false
    return () => {
      if (isDone) return
      isDone = true
      working--
      next()
    }
  }
  const next = (): void => {
    for (let first = waiting.shift(); first; first = waiting.shift()) {
      const comes = elapsed() - first.since <= patience
      first.turn(comes ? begin() : undefined)
      if (comes) return
    }
  }

  return {
    async admit() {
      if (limits && !take(limits)) return undefined
      if (working < atOnce) return begin()
      if (waiting.length >= inLine) return undefined
      return new Promise((turn) => waiting.push({ since: elapsed(), turn }))
    },
  }
}
