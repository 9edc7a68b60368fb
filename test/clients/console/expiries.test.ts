/** The days on which keys expire: which the strip shows, where, and which keys the list shows for one. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dayFrom,
  dayWidth,
  type ExpiryDay,
  expiryDay,
  expiryDays,
  lanesOf,
  STRIP_DAYS,
  stripWidth,
  ticksOf,
} from '../../../clients/console/src/keylist/expiries.ts'
import { rowsOf, select } from '../../../clients/console/src/keylist/selection.ts'
import { FIRST_VIEW } from '../../../clients/console/src/keylist/view.ts'
import { ago, ahead, DAY, HOUR, keyOf, keys, NOW } from './keys.ts'

const key = (name: string, end: string | undefined) => keyOf({ name, status: { expirationTimestamp: end } })

describe('the strip', () => {
  test('has the days on which keys expire, each with all its keys', () =>
    expect(
      expiryDays(
        [
          key('ci-9', '2026-12-02T23:59:59Z'),
          key('today', ahead(HOUR)),
          key('ci-10', '2026-12-02T00:00:00Z'),
          key('c', '2026-12-03T00:00:00Z'),
        ],
        NOW,
      ),
    ).toEqual([
      { day: '2026-11-22', ahead: 0, names: ['today'] },
      { day: '2026-12-02', ahead: 10, names: ['ci-9', 'ci-10'] },
      { day: '2026-12-03', ahead: 11, names: ['c'] },
    ]))

  test('has no other days than the next 90', () =>
    expect(
      expiryDays(
        [
          key('yesterday', ago(DAY)),
          key('never', undefined),
          key('odd', 'x'),
          key('last', ahead(89 * DAY)),
          key('late', ahead(90 * DAY)),
        ],
        NOW,
      ).map(({ names }) => names),
    ).toEqual([['last']]))

  test('counts as many keys as the list shows for the day', () => {
    fc.assert(
      fc.property(keys, (all) => {
        for (const { day, names } of expiryDays(all, NOW)) {
          const { shown } = select(rowsOf(all), { ...FIRST_VIEW, expires: day, exchanges: true }, NOW)
          expect(shown.map((row) => row.key.metadata.name)).toEqual(names)
          expect(shown.map((row) => expiryDay(row.key))).toEqual(names.map(() => day))
        }
      }),
    )
  })

  test('has as much room between the marks of a lane as they need, and no more lanes than that takes', () => {
    const days = fc
      .uniqueArray(fc.nat(STRIP_DAYS - 1), { maxLength: 40 })
      .map((all) => all.sort((a, b) => a - b).map((one): ExpiryDay => ({ day: String(one), ahead: one, names: [] })))
    fc.assert(
      fc.property(days, fc.double({ min: 0.5, max: 12, noNaN: true }), (all, apart) => {
        const lanes = lanesOf(all, apart)
        for (const [index, lane] of lanes.entries()) {
          const before = lanes.lastIndexOf(lane, index - 1)
          if (index > 0 && before >= 0) {
            expect((all[index]?.ahead ?? 0) - (all[before]?.ahead ?? 0)).toBeGreaterThanOrEqual(apart)
          }
          const near = all.filter(({ ahead }) => Math.abs(ahead - (all[index]?.ahead ?? 0)) < apart)
          expect(lane).toBeLessThan(near.length)
        }
      }),
    )
  })

  test('is as wide as its room, or as wide as four lanes need', () => {
    const mark = { width: 24, apart: 28 }
    const all = Array.from({ length: STRIP_DAYS }, (_, ahead): ExpiryDay => ({ day: `${ahead}`, ahead, names: [] }))
    for (const room of [0, 288, 358, 1180, 1820]) {
      const width = stripWidth(all, room, mark)
      expect(Math.max(...lanesOf(all, mark.apart / dayWidth(width, mark.width)))).toBeLessThan(4)
      expect(width).toBe(Math.max(room, 647))
      expect(stripWidth(all.slice(0, 4), room, mark)).toBe(room)
    }
  })

  test('is one stop of Tab, in which keys move', () => {
    const all = expiryDays(
      [1, 5, 9].map((days) => key(`in-${days}`, ahead(days * DAY))),
      NOW,
    )
    const [first = '', second = '', third = ''] = all.map(({ day }) => day)
    for (const [name, to] of [
      ['ArrowLeft', first],
      ['ArrowRight', third],
      ['Home', first],
      ['End', third],
      ['a', undefined],
    ] as const)
      expect(dayFrom(all, second, name)).toBe(to)
    expect([dayFrom(all, first, 'ArrowLeft'), dayFrom(all, third, 'ArrowRight')]).toEqual([undefined, undefined])
  })

  test('names today and the months, where there is room', () => {
    expect(ticksOf(NOW, 4)).toEqual([
      { ahead: 0, words: 'Today' },
      { ahead: 9, words: 'Dec' },
      { ahead: 40, words: 'Jan' },
      { ahead: 71, words: 'Feb' },
    ])
    expect(ticksOf(NOW, 12).map(({ words }) => words)).toEqual(['Today', 'Jan', 'Feb'])
    expect(ticksOf(NOW, 20).map(({ words }) => words)).toEqual(['Today', 'Jan'])
  })
})
