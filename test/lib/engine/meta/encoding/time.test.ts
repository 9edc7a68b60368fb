import { expect, test } from 'vitest'
import {
  decodeTime,
  humanDuration,
  normalizeTime,
  parseTime,
  rfc3339,
} from '../../../../../lib/engine/meta/encoding/time.ts'
import cases from './vectors/time.cases.json' with { type: 'json' }

test.each([
  ['2026-11-21T09:39:41.999Z', '2026-11-21T09:39:41Z'],
  ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00Z'],
])('formats %s in whole seconds', (iso, text) => expect(rfc3339(new Date(iso))).toBe(text))

test.each(cases.normalized as [string, string][])('normalizes %s', (text, normal) =>
  expect(normalizeTime(text)).toBe(normal),
)

test.each(['1900-02-29T00:00:00Z', '2023-02-29T00:00:00Z', '2023-04-31T00:00:00Z'])(
  'rejects the invalid day %s',
  (text) => {
    expect(() => decodeTime(text)).toThrow(`parsing time "${text}": day out of range`)
    expect(parseTime(text)).toBeUndefined()
  },
)

test('decodes a time without its fraction', () =>
  expect(decodeTime('1970-01-01T01:00:01.5+01:00').getTime()).toBe(1000))

// Source: k8s.io/apimachinery/pkg/util/duration.
test.each(cases.times as [number, string][])('formats %d seconds as %s', (seconds, text) =>
  expect(humanDuration(seconds)).toBe(text),
)
