/**
 * Compares the delays and reads of a watch with those of one that reads every 200 ms, with a fake clock. A read costs half a
 * unit: twice as many reads as at this pace cost as much as consistent reads at this pace.
 */
import { describe, expect, test } from 'vitest'
import { type WatchPace, watchPace } from '../../../../../lib/engine/endpoints/watches/pace.ts'

const fixed: WatchPace = { sent: () => {}, wait: () => 200 }
/** The duration of a read of the log. */
const readMs = 5

interface Run {
  reads: number
  /** The time from each event until a read found it. */
  delays: number[]
}

/**
 * Runs a watch for `ms` milliseconds. `events` are the times of changes. Each is followed by `answers` more changes, which a
 * controller makes 60 ms after it receives the previous one.
 */
function runWatch(pace: WatchPace, ms: number, events: readonly number[], answers = 0): Run {
  const run: Run = { reads: 0, delays: [] }
  const pending = events.map((at) => ({ at, answers }))
  for (let now = 0; now < ms; ) {
    run.reads++
    const begun = now
    now += readMs
    for (const one of pending.filter(({ at }) => at <= begun)) {
      pending.splice(pending.indexOf(one), 1)
      run.delays.push(now - one.at)
      pace.sent(now)
      if (one.answers > 0) pending.push({ at: now + 60, answers: one.answers - 1 })
    }
    now += pace.wait(now)
  }
  return run
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const minutes = 60_000
const every = (ms: number, until: number, first = ms): number[] =>
  Array.from({ length: Math.floor((until - first) / ms) }, (_, index) => first + index * ms)

/** Returns times at intervals between 0.5 and 1.5 times `ms`. */
const about = (ms: number, until: number): number[] => {
  const times: number[] = []
  for (let at = ms; at < until; at += ms * (0.5 + ((times.length * 0.618) % 1))) times.push(at)
  return times
}

/** Typical watches: of 120 s, and shorter ones. */
const longest = 120_000
const mix: [what: string, ms: number, events: number[], answers?: number][] = [
  ['nothing', longest, []],
  ['a change every minute', longest, every(minutes, longest, 13_337)],
  ['a deployment: 20 changes in 10 s', longest, every(510, 40_000, 30_037)],
  ['a controller that reacts to each change ten times', longest, every(47_777, longest), 10],
  ['60 changes, one every 300 ms', longest, about(300, 18_000)],
  ['kubectl wait, for 2 s', 2_000, [1_730]],
  ['kubectl get -w, for 30 s', 30_000, [4_100, 21_300]],
]

describe('a watch', () => {
  test('of a controller that reacts to events sees its own changes soon', () => {
    const events = every(47_777, 280_000)
    const seen = runWatch(watchPace(0), 280_000, events, 10).delays
    expect(median(seen)).toBeLessThanOrEqual(35)
    expect(median(runWatch(fixed, 280_000, events, 10).delays)).toBeGreaterThan(100)
  })

  test.each([50, 300, 1_000])('sees changes that come every %i ms within 60 ms, the median, until it ends', (ms) => {
    const { delays } = runWatch(watchPace(0), longest, about(ms, longest - 1_000))
    expect(median(delays)).toBeLessThanOrEqual(60)
  })

  test('delays an event by at most 500 ms and a read, however long nothing changed', () => {
    const { delays } = runWatch(watchPace(0), 280_000, every(13_337, 279_000))
    expect(delays.length).toBeGreaterThan(15)
    expect(Math.max(...delays)).toBeLessThanOrEqual(500 + 2 * readMs)
  })

  test('reads twice a second without events', () => {
    const idle = runWatch(watchPace(0), 10 * minutes, []).reads - runWatch(watchPace(0), 9 * minutes, []).reads
    expect(idle).toBeGreaterThan(115)
    expect(idle).toBeLessThanOrEqual(120)
  })

  test('with constant events makes at most 100 reads more than one every 100 ms', () => {
    const busy = runWatch(watchPace(0), longest, every(20, longest))
    expect(busy.reads).toBeLessThanOrEqual(longest / 100 + 100)
    expect(busy.reads).toBeGreaterThan(longest / 110)
    expect(Math.max(...busy.delays)).toBeLessThanOrEqual(100 + 2 * readMs)
  })

  test('reads less in total over typical watches, which costs not even half', () => {
    const sum = (paces: () => WatchPace) =>
      mix.reduce((reads, [, ms, events, answers]) => reads + runWatch(paces(), ms, events, answers).reads, 0)
    expect(sum(() => watchPace(0))).toBeLessThan(sum(() => fixed) * 0.75)
  })

  test('saves a limited allowance without events', () => {
    const burst = (quiet: number) => runWatch(watchPace(0), quiet + 40_000, every(20, quiet + 40_000, quiet))
    const reads = [1, 2, 4].map(
      (times) => burst(times * minutes).reads - runWatch(watchPace(0), times * minutes, []).reads,
    )
    expect(Math.max(...reads) - Math.min(...reads)).toBeLessThanOrEqual(5)
    expect(Math.max(...reads)).toBeLessThanOrEqual(40_000 / 100 + 300 + 5)
  })
})
