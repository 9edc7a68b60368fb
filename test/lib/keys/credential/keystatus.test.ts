import { describe, expect, test } from 'vitest'
import { isActivityDue, type KeyLife, keyStatus } from '../../../../lib/keys/credential/keystatus.ts'
import cases from './vectors/keystatus.cases.json' with { type: 'json' }

const life = (more: Partial<KeyLife> = {}): KeyLife => ({
  created: 1000,
  ttlAfterLastActivity: false,
  disabled: false,
  deleted: false,
  ...more,
})

describe('keyStatus', () => {
  test.each<[string, Partial<KeyLife>, number, number | undefined, object]>([
    ['a key without ttl', {}, 9e9, undefined, { state: 'Active' }],
    ['a key with ttl 0, which is no limit', { ttl: 0 }, 9e9, undefined, { state: 'Active' }],
    ['the last second of a key', { ttl: 10 }, 1009, undefined, { state: 'Active', expires: 1010 }],
    ['the first second after the ttl', { ttl: 10 }, 1010, undefined, { state: 'Expired', expires: 1010 }],
    [
      'a use of a key whose ttl does not slide',
      { ttl: 10, lastActivity: 1009 },
      1010,
      undefined,
      { state: 'Expired', expires: 1010 },
    ],
    [
      'a key that was used within its ttl',
      { ttl: 10, lastActivity: 1009, ttlAfterLastActivity: true },
      1018,
      undefined,
      { state: 'Active', expires: 1019 },
    ],
    [
      'a key that is unused for its ttl',
      { ttl: 10, lastActivity: 1009, ttlAfterLastActivity: true },
      1019,
      undefined,
      { state: 'Expired', expires: 1019 },
    ],
    [
      'a sliding key that was never used',
      { ttl: 10, ttlAfterLastActivity: true },
      1010,
      undefined,
      { state: 'Expired', expires: 1010 },
    ],
    ['a key without ttl after the maximum', {}, 1005, 5, { state: 'Expired', expires: 1005 }],
    ['a key with a ttl over the maximum', { ttl: 10 }, 1004, 5, { state: 'Active', expires: 1005 }],
    [
      'a sliding key after the maximum',
      { ttl: 10, lastActivity: 1009, ttlAfterLastActivity: true },
      1014,
      5,
      { state: 'Expired', expires: 1014 },
    ],
    ['a key with a ttl below the maximum', { ttl: 3 }, 1002, 5, { state: 'Active', expires: 1003 }],
    ['a disabled key', { disabled: true, ttl: 10 }, 2000, undefined, { state: 'Disabled', expires: 1010 }],
    ['a deleted key', { disabled: true, deleted: true }, 1000, undefined, { state: 'Terminating' }],
    ['a ttl beyond all timestamps', { ttl: Number.MAX_SAFE_INTEGER }, 1000, undefined, { state: 'Active' }],
  ])('computes the state of %s', (_, more, now, maxTtl, expected) => {
    expect(keyStatus(life(more), now, maxTtl === undefined ? {} : { maxTtl })).toEqual(expected)
  })
})

describe('activityDue', () => {
  test.each(cases.used as [string, Partial<KeyLife>, number, boolean][])('for %s', (_, more, now, due) =>
    expect(isActivityDue(life(more), now)).toBe(due),
  )

  test('a sliding key in constant use never expires', () => {
    for (const ttl of [4, 5, 60, 240, 86_400]) {
      const key = life({ ttl, ttlAfterLastActivity: true })
      for (let now = 1000; now < 1000 + 3 * Math.min(ttl, 1000); now++) {
        expect(keyStatus(key, now).state).toBe('Active')
        if (isActivityDue(key, now)) key.lastActivity = now
      }
    }
  })
})
