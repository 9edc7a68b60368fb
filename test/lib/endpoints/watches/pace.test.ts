/** Compares the delays and reads of a watch with those of one that reads every 200 ms, with a fake clock. */
import { describe, expect, test } from 'vitest'
import { type WatchPace, watchPace } from '../../../../lib/endpoints/watches/pace.ts'

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

/** Typical watches: of 280 s, and shorter ones. */
const mix: [what: string, ms: number, events: number[], answers?: number][] = [
  ['nothing', 280_000, []],
  ['a change every minute', 280_000, every(minutes, 280_000, 13_337)],
  ['a deployment: 20 changes in 10 s', 280_000, every(510, 10_000, 100_037)],
  ['a controller that reacts to each change ten times', 280_000, every(47_777, 280_000), 10],
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

  test.each([50, 300, 1_000])('sees changes that come every %i ms sooner than at a fixed pace, for a while', (ms) => {
    const events = about(ms, 6_000)
    const mean = ({ delays }: Run) => delays.reduce((sum, one) => sum + one, 0) / delays.length
    expect(mean(runWatch(watchPace(0), 7_000, events))).toBeLessThan(mean(runWatch(fixed, 7_000, events)) * 0.85)
  })

  test('delays an event by at most 400 ms and a read, however long nothing changed', () => {
    const { delays } = runWatch(watchPace(0), 280_000, every(13_337, 279_000))
    expect(delays.length).toBeGreaterThan(15)
    expect(Math.max(...delays)).toBeLessThanOrEqual(400 + 2 * readMs)
  })

  test('reads half as often without events', () => {
    expect(runWatch(watchPace(0), 280_000, []).reads).toBeLessThan(runWatch(fixed, 280_000, []).reads * 0.55)
  })

  test('with constant events makes at most 50 reads more than at a fixed pace', () => {
    const busy = runWatch(watchPace(0), 280_000, every(20, 280_000))
    expect(busy.reads).toBeLessThanOrEqual(280_000 / 200 + 50)
    expect(busy.reads).toBeGreaterThan(280_000 / 200)
    expect(Math.max(...busy.delays)).toBeLessThanOrEqual(200 + 2 * readMs)
  })

  test('reads no more in total over typical watches', () => {
    const sum = (paces: () => WatchPace) =>
      mix.reduce((reads, [, ms, events, answers]) => reads + runWatch(paces(), ms, events, answers).reads, 0)
    expect(sum(() => watchPace(0))).toBeLessThan(sum(() => fixed) * 0.75)
  })

  test('saves a limited allowance without events', () => {
    const burst = (quiet: number) => runWatch(watchPace(0), quiet + 20_000, every(20, quiet + 20_000, quiet))
    const reads = [1, 2, 4].map(
      (times) => burst(times * minutes).reads - runWatch(watchPace(0), times * minutes, []).reads,
    )
    expect(Math.max(...reads) - Math.min(...reads)).toBeLessThanOrEqual(3)
    expect(Math.max(...reads)).toBeLessThanOrEqual(20_000 / 200 + 150 + 3)
  })
})
