import { describe, expect, test } from 'vitest'
import { keyWarnings, type WarnedKey } from '../../../../lib/keys/requests/keywarnings.ts'

const DAY = 86_400
/** 2026-11-28T10:00:00Z. */
const END = Date.UTC(2026, 10, 28, 10) / 1000

/** Returns the warnings of a key that lives `days`, `left` seconds before its end. */
const warn = (days: number, left: number, more: Partial<WarnedKey> = {}) =>
  keyWarnings({ name: 'ci', created: END - days * DAY, expires: END, ttlAfterLastActivity: false, ...more }, END - left)

describe('keyWarnings', () => {
  test('tells when the key expires', () => {
    expect(warn(90, 6 * DAY)).toEqual(['access key "ci" expires in 6d (2026-11-28T10:00:00Z)'])
    expect(warn(365, 10 * DAY + 3600)).toEqual(['access key "ci" expires in 10d (2026-11-28T10:00:00Z)'])
    expect(warn(30, 1)).toEqual(['access key "ci" expires in 1s (2026-11-28T10:00:00Z)'])
  })

  test.each([
    ['a year', 365, 14 * DAY],
    ['98 days', 98, 14 * DAY],
    ['70 days', 70, 10 * DAY],
    ['a week', 7, DAY],
  ])('begins in the last seventh of a life of %s, and two weeks before the end at the earliest', (_, days, notice) => {
    expect(warn(days, notice)).toEqual([])
    expect(warn(days, notice - 1)).toHaveLength(1)
  })

  test.each<[string, number, Partial<WarnedKey>]>([
    ['lives less than a week', 7 - 1 / DAY, {}],
    ['expires some time after its last use', 90, { ttlAfterLastActivity: true }],
    ['never expires', 90, { expires: undefined }],
  ])('is silent for a key that %s', (_, days, more) => expect(warn(days, 60, more)).toEqual([]))

  test('tells until when a rotated value works, whatever the life of the key', () => {
    const rotated = 'this value of access key "ci" was rotated and works until 2026-11-27T10:00:00Z'
    expect(warn(90, 60 * DAY, { until: END - DAY })).toEqual([rotated])
    expect(warn(1, 60, { until: END - DAY, ttlAfterLastActivity: true })).toEqual([rotated])
    expect(warn(90, DAY + 60, { until: END - DAY })).toHaveLength(2)
  })
})
