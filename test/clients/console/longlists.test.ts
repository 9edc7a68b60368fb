/** Long lists: they are computed in slices, and only what is near the window is drawn. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BLOCK, blocksBetween, drawnBlocks, rowsIn } from '../../../clients/console/src/components/blocks.ts'
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

  test('goes on later until its end, and finds nothing when it was given up', () => {
    const planned: (() => void)[] = []
    const surroundings = { clock: clockOf(9), later: (run: () => void) => void planned.push(run) }
    function* count(to: number): Steps<number> {
      for (let step = 0; step < to; step++) yield
      return to
    }
    const found: number[] = []
    const giveUp = runLater(count(5), surroundings, (value) => found.push(value))
    runLater(count(7), surroundings, (value) => found.push(value))
    for (const run of planned.splice(0)) run()
    expect([found, planned.length]).toEqual([[], 2])
    giveUp()
    for (const run of planned) run()
    expect(found).toEqual([7])
  })
})

describe('of a long table', () => {
  const table = fc.record({
    rows: fc.nat({ max: 400 }),
    heights: fc.infiniteStream(fc.integer({ min: 1, max: 90 })),
    top: fc.integer({ min: -900, max: 40_000 }),
    height: fc.integer({ min: 1, max: 2000 }),
  })

  test('what is between two heights is drawn, and nothing else', () => {
    fc.assert(
      fc.property(table, ({ rows, heights, top, height }) => {
        const blocks = Array.from({ length: Math.ceil(rows / BLOCK) }, (_, block) => {
          return rowsIn(block, rows) * (heights.next().value ?? 1)
        })
        const drawn = blocksBetween(top, top + height, rows, (block) => blocks[block] ?? 0)
        expect(drawn.filter((block) => block >= blocks.length)).toEqual([])
        let y = 0
        for (const [block, size] of blocks.entries()) {
          expect(drawn.includes(block)).toBe(y < top + height && y + size > top)
          y += size
        }
        expect(blocks.reduce((sum, _, block) => sum + rowsIn(block, rows), 0)).toBe(rows)
      }),
    )
  })

  test('what has the focus is drawn with what is around it, in the order of the rows', () => {
    const blocks = fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 3 })
    const focus = fc.option(fc.nat({ max: 9 }), { nil: undefined })
    fc.assert(
      fc.property(blocks, focus, fc.integer({ min: 1, max: 9 * BLOCK }), (near, focused, rows) => {
        const last = Math.ceil(rows / BLOCK) - 1
        const drawn = drawnBlocks(near, focused, rows)
        expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
        expect(drawn.every((one) => one >= 0 && one <= last)).toBe(true)
        expect(drawn.length).toBeGreaterThan(0)
        const around = focused === undefined ? [] : [focused - 1, focused, focused + 1]
        const wanted = [...near, ...around].filter((one) => one >= 0 && one <= last)
        expect(drawn).toEqual(expect.arrayContaining(wanted))
        expect(drawn.filter((one) => !wanted.includes(one) && one !== last)).toEqual([])
      }),
    )
  })
})
