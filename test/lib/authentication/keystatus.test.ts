import { describe, expect, test } from 'vitest'
import { isActivityDue, type KeyLife, keyStatus } from '../../../lib/authentication/keystatus.ts'

const life = (more: Partial<KeyLife> = {}): KeyLife => ({
  created: 1000,
  ttlAfterLastActivity: false,
  disabled: false,
  deleted: false,
  ...more,
})

describe('keyStatus', () => {
  test.each<[string, Partial<KeyLife>, number, number | undefined, object]>([
    ['without ttl it lives on', {}, 9e9, undefined, { state: 'Active' }],
    ['ttl 0 is none', { ttl: 0 }, 9e9, undefined, { state: 'Active' }],
    ['the last second', { ttl: 10 }, 1009, undefined, { state: 'Active', expires: 1010 }],
    ['the first second after', { ttl: 10 }, 1010, undefined, { state: 'Expired', expires: 1010 }],
    ['activity does not count', { ttl: 10, lastActivity: 1009 }, 1010, undefined, { state: 'Expired', expires: 1010 }],
    [
      'activity counts',
      { ttl: 10, lastActivity: 1009, ttlAfterLastActivity: true },
      1018,
      undefined,
      { state: 'Active', expires: 1019 },
    ],
    [
      'and ends',
      { ttl: 10, lastActivity: 1009, ttlAfterLastActivity: true },
      1019,
      undefined,
      { state: 'Expired', expires: 1019 },
    ],
    [
      'before the first use creation counts',
      { ttl: 10, ttlAfterLastActivity: true },
      1010,
      undefined,
      { state: 'Expired', expires: 1010 },
    ],
    ['a maximum binds keys without ttl', {}, 1005, 5, { state: 'Expired', expires: 1005 }],
    ['a maximum binds longer keys', { ttl: 10 }, 1004, 5, { state: 'Active', expires: 1005 }],
    [
      'a maximum binds sliding keys',
      { ttl: 10, lastActivity: 1009, ttlAfterLastActivity: true },
      1014,
      5,
      { state: 'Expired', expires: 1014 },
    ],
    ['a maximum leaves shorter keys', { ttl: 3 }, 1002, 5, { state: 'Active', expires: 1003 }],
    ['disabled', { disabled: true, ttl: 10 }, 2000, undefined, { state: 'Disabled', expires: 1010 }],
    ['deleted', { disabled: true, deleted: true }, 1000, undefined, { state: 'Terminating' }],
    ['beyond all timestamps', { ttl: Number.MAX_SAFE_INTEGER }, 1000, undefined, { state: 'Active' }],
  ])('%s', (_, more, now, maxTtl, expected) => {
    expect(keyStatus(life(more), now, maxTtl === undefined ? {} : { maxTtl })).toEqual(expected)
  })
})

describe('activityDue', () => {
  test.each<[string, Partial<KeyLife>, number, boolean]>([
    ['never used', {}, 1000, true],
    ['60 seconds', { lastActivity: 1000 }, 1060, false],
    ['61 seconds', { lastActivity: 1000 }, 1061, true],
    ['a quarter of a short ttl', { lastActivity: 1000, ttl: 40 }, 1010, false],
    ['more than it', { lastActivity: 1000, ttl: 40 }, 1011, true],
    ['a clock that is behind', { lastActivity: 1000 }, 900, false],
  ])('%s', (_, more, now, due) => expect(isActivityDue(life(more), now)).toBe(due))

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
