import { expect, test } from 'vitest'
import { parseResourceVersion } from '../../../lib/meta/resourceversion.ts'

test.each([
  ['', 0n],
  ['0', 0n],
  ['42', 42n],
  ['18446744073709551615', 2n ** 64n - 1n],
])('%j is a resourceVersion', (text, value) => {
  expect(parseResourceVersion(text)).toBe(value)
})

test.each([
  ['abc', 'strconv.ParseUint: parsing "abc": invalid syntax'],
  ['-1', 'strconv.ParseUint: parsing "-1": invalid syntax'],
  ['1\n', 'strconv.ParseUint: parsing "1\\n": invalid syntax'],
  ['18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
])('%j is none', (text, message) => {
  expect(() => parseResourceVersion(text)).toThrow(message)
})
