/**
 * When a watch reads the log again. Changes come in company: who has just been told of one often makes the next, and waits to
 * see it. So a watch reads soon after an event, and ever later while there is none. In sum it reads no more than one that
 * reads at a fixed pace, but for what it is given in advance: each read is taken from an allowance that grows with time.
 */

/** The pace that the allowance grows at, which a watch falls back to when it is spent. */
const meanMs = 200
/** What reading at the mean pace would take for ten seconds is given to begin with; for thirty seconds is saved at most. */
const given = 50
const saved = 150
/** The shortest wait and the longest: the mean delay of an event is half of the wait that it falls into. */
const shortestMs = 40
const longestMs = 400
/** Between them the wait is such a part of the time since the last event. */
const share = 1 / 8

export interface WatchPace {
  /** An event was sent. */
  sent(now: number): void
  /** How long to wait after a read, in milliseconds. Counts it. */
  wait(now: number): number
}

/** The pace of a watch that begins now; all times are milliseconds of one clock. It begins as after an event. */
export function watchPace(began: number): WatchPace {
  let last = began
  let counted = began
  let allowance = given
  return {
    sent(now) {
      last = now
    },
    wait(now) {
      allowance = Math.min(saved, allowance + (now - counted) / meanMs) - 1
      counted = now
      const due = Math.min(longestMs, Math.max(shortestMs, (now - last) * share))
      return allowance < 1 ? Math.max(due, meanMs) : due
    },
  }
}
