import { expect, test } from 'vitest'
import { decodeTime, humanDuration, normalizeTime, parseTime, rfc3339 } from '../../../../lib/meta/encoding/time.ts'

test.each([
  ['2026-11-21T09:39:41.999Z', '2026-11-21T09:39:41Z'],
  ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00Z'],
])('formats %s in whole seconds', (iso, text) => {
  expect(rfc3339(new Date(iso))).toBe(text)
})

test.each([
  ['2024-01-01T00:00:00.5+02:00', '2023-12-31T22:00:00Z'],
  ['2024-02-29T23:59:59-00:30', '2024-03-01T00:29:59Z'],
  ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00Z'],
  ['2000-02-29T5:00:00,123456789123Z', '2000-02-29T05:00:00Z'],
])('normalizes %s', (text, normal) => {
  expect(normalizeTime(text)).toBe(normal)
})

test.each(['1900-02-29T00:00:00Z', '2023-02-29T00:00:00Z', '2023-04-31T00:00:00Z'])(
  'rejects the invalid day %s',
  (text) => {
    expect(() => decodeTime(text)).toThrow(`parsing time "${text}": day out of range`)
    expect(parseTime(text)).toBeUndefined()
  },
)

// Source: k8s.io/apimachinery/pkg/util/duration.
test.each([
  [-2, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [121, '2m1s'],
  [599, '9m59s'],
  [600, '10m'],
  [3 * 3600 - 1, '179m'],
  [3 * 3600, '3h'],
  [3 * 3600 + 61, '3h1m'],
  [8 * 3600, '8h'],
  [48 * 3600 - 1, '47h'],
  [48 * 3600, '2d'],
  [51 * 3600, '2d3h'],
  [8 * 86_400, '8d'],
  [729 * 86_400, '729d'],
  [730 * 86_400, '2y'],
  [731 * 86_400, '2y1d'],
  [8 * 365 * 86_400, '8y'],
  [8 * 365 * 86_400 + 86_400, '8y'],
])('formats %d seconds as %s', (seconds, text) => {
  expect(humanDuration(seconds)).toBe(text)
})
