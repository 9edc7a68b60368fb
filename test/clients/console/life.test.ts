/** The line of a key's life: where its parts are, what it looks like, and the same in words. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lifeLine, lifeState, lifeWords } from '../../../clients/console/src/pages/keys/lifetime/life.ts'
import { ago, ahead, DAY, type Facts, HOUR, keyOf, keys, MINUTE, NOW } from './keys.ts'

const life = (made: string, used: string | undefined, end: string | undefined, more: Facts = {}) =>
  keyOf({
    ...more,
    metadata: { creationTimestamp: made },
    status: { ...more.status, lastActivity: used, expirationTimestamp: end },
  })

describe('the line of a key', () => {
  test('goes from its creation to its expiry', () =>
    expect(lifeLine(life(ago(30 * DAY), ago(10 * DAY), ahead(70 * DAY)), NOW)).toEqual({
      state: 'works',
      isOpen: false,
      used: 20,
      now: 30,
    }))

  test('has an open end if the key never expires', () =>
    expect(lifeLine(life(ago(100 * DAY), ago(20 * DAY), undefined), NOW)).toEqual({
      state: 'works',
      isOpen: true,
      used: 60,
      now: 75,
    }))

  test('ends now if the key has expired', () =>
    expect(lifeLine(life(ago(30 * DAY), undefined, ago(DAY)), NOW)).toEqual({
      state: 'expired',
      isOpen: false,
      now: 100,
    }))

  test.each([
    ['creation', 'x', ahead(DAY)],
    ['expiry', ago(DAY), 'x'],
  ])('does not exist without a readable %s', (_, made, end) =>
    expect(lifeLine(life(made, ago(0), end), NOW)).toBeUndefined(),
  )

  test('has every part on it, whatever the times are', () => {
    fc.assert(
      fc.property(keys, (all) => {
        for (const line of all.map((key) => lifeLine(key, NOW)).filter((one) => one !== undefined)) {
          for (const place of [line.now, line.used ?? 0]) {
            expect(place).toBeGreaterThanOrEqual(0)
            expect(place).toBeLessThanOrEqual(100)
          }
        }
      }),
    )
  })
})

test.each<[string, string | undefined, string]>([
  ['Active', ahead(14 * DAY), 'soon'],
  ['Active', ahead(14 * DAY + MINUTE), 'works'],
  ['Active', undefined, 'works'],
  ['Active', ago(MINUTE), 'expired'],
  ['Expired', ago(DAY), 'expired'],
  ['Disabled', ahead(DAY), 'stopped'],
  ['Terminating', ahead(DAY), 'stopped'],
])('a key that is %s and expires at %s looks as one that is: %s', (phase, end, state) =>
  expect(lifeState(life(ago(30 * DAY), ago(0), end, { status: { phase } }), NOW)).toBe(state),
)

test.each<[string, ReturnType<typeof life>]>([
  [
    'created 3 months ago, last used 9 hours ago, expires in 6 days',
    life(ago(84 * DAY), ago(9 * HOUR), ahead(6 * DAY)),
  ],
  ['created 2 hours ago, never used, never expires', life(ago(2 * HOUR), undefined, undefined)],
  [
    'created 40 days ago, last used 5 days ago, expires in 9 days if not used',
    life(ago(40 * DAY), ago(5 * DAY), ahead(9 * DAY), { spec: { ttlAfterLastActivity: true } }),
  ],
  ['created 31 days ago, never used, expired 24 hours ago', life(ago(31 * DAY), undefined, ago(DAY))],
  [
    'disabled, created 31 days ago, never used, expires in 6 days',
    life(ago(31 * DAY), undefined, ahead(6 * DAY), { status: { phase: 'Disabled' } }),
  ],
  ['created at an unknown time, last used at an unknown time, expires at an unknown time', life('x', 'x', 'x')],
])('the words for a life are: %s', (words, key) => expect(lifeWords(key, NOW)).toBe(words))
