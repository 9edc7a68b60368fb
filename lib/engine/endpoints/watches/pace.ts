/**
 * Decides when a watch reads the log again. Changes come in groups: a controller often reacts to an event with a change and
 * waits to see it. So a watch reads soon after an event, and less and less often without one. Each read costs one unit of an
 * allowance that grows with time. Apart from the initial allowance, a watch reads no more than at a fixed pace.
 *
 * A read without changes is eventually consistent and costs half a read unit. So the fixed pace is five units a second, and
 * without changes a watch takes one. A burst of 60 changes in 18 seconds takes 290 reads, 145 units, beside the changes themselves.
 */

/** The allowance grows by one read in this time. A watch without allowance reads at this pace. */
const meanMs = 100
/** The initial allowance covers 10 seconds at the mean pace; the largest allowance covers 30 seconds. */
const given = 100
const saved = 300
/** The bounds of a wait. An event is delayed by half of the current wait on average. */
const shortestMs = 40
const longestMs = 500
/** The minimum time between two reads of a watch that is notified of each change. */
export const closestMs = 20
/** Within these bounds, a wait is this share of the time since the last event. */
const share = 1 / 10

export interface WatchPace {
  /** Records that an event was sent. */
  sent(now: number): void
  /** Counts a read and returns how many milliseconds to wait after it. */
  wait(now: number): number
}

/** Returns the pace of a watch, which starts as if an event had just been sent. All times are milliseconds of one clock. */
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
