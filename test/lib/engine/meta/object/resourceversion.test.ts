import { expect, test } from 'vitest'
import { parseResourceVersion, resourceVersionOrNone } from '../../../../../lib/engine/meta/object/resourceversion.ts'
import cases from './vectors/resourceversion.cases.json' with { type: 'json' }

test.each([
  ['', 0n],
  ['0', 0n],
  ['42', 42n],
  ['0042', 42n],
  ['00', 0n],
  [`${'0'.repeat(3_000_000)}7`, 7n],
  ['18446744073709551615', 2n ** 64n - 1n],
])('parses the resourceVersion %j', (text, value) => expect(parseResourceVersion(text)).toBe(value))

test.each(cases.rejected as [string, string][])('rejects %j', (text, message) => {
  expect(() => parseResourceVersion(text)).toThrow(message)
  expect(resourceVersionOrNone(text)).toBe(0n)
})

// threat: gateway-8
test('rejects endless digits without converting them to a number', () =>
  expect(() => parseResourceVersion('9'.repeat(3_000_000))).toThrow('parsing "999'))
