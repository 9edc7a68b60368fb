/** Long lists: they are computed in slices, and only what is near the window is drawn. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawnRows, heightBetween, nextRows, rowsBetween } from '../../../clients/console/src/components/drawnrows.ts'
import { each, finished, runLater, runSlice, type Steps, sorting } from '../../../clients/console/src/keylist/slices.ts'

const numbers = (most: number) => fc.array(fc.nat({ max: most }), { maxLength: 3000, size: 'max' })

describe('a computation in slices', () => {
  /** A clock of which each look takes some milliseconds. */
  const clockOf = (step: number) => {
    let now = 0
    return () => (now += step)
  }

  test('sorts as an array does, and keeps the order of equals', () => {
    fc.assert(
      fc.property(numbers(50), (list) => {
        const all = list.map((value, index) => ({ value, index }))
        const compare = (a: { value: number }, b: { value: number }) => a.value - b.value
        expect(finished(sorting(all, compare))).toEqual(all.toSorted(compare))
      }),
    )
  })

  test('compares few elements between two pauses, while it merges too', () => {
    const list = Array.from({ length: 16_384 }, (_, index) => (index * 7919) % 16_384)
    let compared = 0
    const steps = sorting(list, (a, b) => {
      compared += 1
      return a - b
    })
    let most = 0
    while (!steps.next().done) {
      most = Math.max(most, compared)
      compared = 0
    }
    expect(Math.max(most, compared)).toBeLessThan(3000)
  })

  test('pauses when its time is over, and visits everything once', () => {
    fc.assert(
      fc.property(numbers(9), (list) => {
        const seen: number[] = []
        const steps = each(list, (one) => seen.push(one))
        let slices = 1
        while (!runSlice(steps, clockOf(5))) slices += 1
        expect(seen).toEqual(list)
        // A slice has two steps here.
        expect(slices).toBe(Math.ceil((Math.floor(list.length / 256) + 1) / 2))
      }),
    )
  })

  test('goes on later until its end, tells it after a frame, and finds nothing when it was given up', () => {
    const planned: (() => void)[] = []
    const frames: (() => void)[] = []
    const runAll = (all: (() => void)[]) => {
      for (const run of all.splice(0)) run()
    }
    const around = {
      clock: clockOf(9),
      later: (run: () => void) => void planned.push(run),
      afterFrame: (run: () => void) => void frames.push(run),
    }
    function* count(to: number): Steps<number> {
      for (let step = 0; step < to; step++) yield
      return to
    }
    const found: number[] = []
    const giveUp = runLater(count(5), around, (value) => found.push(value))
    const giveUpAtItsEnd = runLater(count(0), around, (value) => found.push(value))
    runLater(count(7), around, (value) => found.push(value))
    runAll(planned)
    expect([found, planned.length, frames.length]).toEqual([[], 2, 1])
    giveUp()
    giveUpAtItsEnd()
    while (planned.length > 0) runAll(planned)
    expect(found).toEqual([])
    runAll(frames)
    expect(found).toEqual([7])
  })
})

describe('of a long table', () => {
  /** Few heights, so that rows often end where what is visible begins or ends. */
  const pixels = (min: number, max: number) => fc.integer({ min, max }).map((tens) => tens * 10)
  const table = fc.record({
    count: fc.nat({ max: 400 }),
    usual: pixels(1, 9),
    others: fc.array(fc.tuple(fc.nat({ max: 399 }), pixels(1, 9))),
    top: pixels(-90, 2000),
    height: pixels(1, 200),
  })

  test('what is between two heights is drawn, and nothing else', () => {
    fc.assert(
      fc.property(table, ({ count, usual, others, top, height }) => {
        const heights = { usual, others: new Map(others) }
        const drawn = rowsBetween(top, top + height, count, heights)
        const expected: number[] = []
        let y = 0
        for (let row = 0; row < count; row++) {
          expect(heightBetween(0, row, heights)).toBe(y)
          const size = heights.others.get(row) ?? usual
          expect(heightBetween(row, row + 1, heights)).toBe(size)
          if (y < top + height && y + size > top) expected.push(row)
          y += size
        }
        expect(drawn).toEqual(expected)
      }),
    )
  })

  test('what is visible is drawn at once, then a few rows at a time, down before up, until all that is near is there', () => {
    const near = Array.from({ length: 20 }, (_, index) => index + 10)
    const visible = [16, 17, 18, 19]
    const steps = [[3, 4]]
    for (;;) {
      const before = steps.at(-1) ?? []
      const next = nextRows(near, visible, before)
      if (next.length === before.length) break
      steps.push(next)
    }
    expect(steps.map((rows) => [rows[0], rows.at(-1), rows.length])).toEqual([
      [3, 4, 2],
      [16, 19, 4],
      [16, 23, 8],
      [16, 27, 12],
      [16, 29, 14],
      [12, 29, 18],
      [10, 29, 20],
    ])
    expect(nextRows(near, visible, [16, 17, 18])).toEqual(visible)
    expect(nextRows(near, visible, near)).toEqual(near)
  })

  test('what has the focus is drawn with what is around it, in the order of the rows', () => {
    const rows = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 9 })
    const focus = fc.option(fc.nat({ max: 40 }), { nil: undefined })
    fc.assert(
      fc.property(rows, focus, fc.integer({ min: 1, max: 40 }), (near, focused, count) => {
        const drawn = drawnRows(near, focused, count)
        expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
        expect(drawn.every((one) => one >= 0 && one < count)).toBe(true)
        expect(drawn.length).toBeGreaterThan(0)
        const around = focused === undefined ? [] : [focused - 1, focused, focused + 1]
        const wanted = [...near, ...around].filter((one) => one >= 0 && one < count)
        expect(drawn).toEqual(expect.arrayContaining(wanted))
        expect(drawn.filter((one) => !wanted.includes(one) && one !== count - 1)).toEqual([])
      }),
    )
  })
})
