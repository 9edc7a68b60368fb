import { expect, test } from 'vitest'
import { parseResourceVersion, resourceVersionOrNone } from '../../../../lib/meta/object/resourceversion.ts'

test.each([
  ['', 0n],
  ['0', 0n],
  ['42', 42n],
  ['0042', 42n],
  ['00', 0n],
  [`${'0'.repeat(3_000_000)}7`, 7n],
  ['18446744073709551615', 2n ** 64n - 1n],
])('parses the resourceVersion %j', (text, value) => {
  expect(parseResourceVersion(text)).toBe(value)
})

test.each([
  ['abc', 'strconv.ParseUint: parsing "abc": invalid syntax'],
  ['-1', 'strconv.ParseUint: parsing "-1": invalid syntax'],
  ['a\u0001', 'strconv.ParseUint: parsing "a\\x01": invalid syntax'],
  ['99999999999999999999x', 'strconv.ParseUint: parsing "99999999999999999999x": value out of range'],
  ['1844674407370955161x', 'strconv.ParseUint: parsing "1844674407370955161x": invalid syntax'],
  ['1\n', 'strconv.ParseUint: parsing "1\\n": invalid syntax'],
  ['18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
])('rejects %j', (text, message) => {
  expect(() => parseResourceVersion(text)).toThrow(message)
  expect(resourceVersionOrNone(text)).toBe(0n)
})

test('rejects endless digits without converting them to a number', () => {
  expect(() => parseResourceVersion('9'.repeat(3_000_000))).toThrow('parsing "999')
})
