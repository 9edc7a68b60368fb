import { expect, test } from 'vitest'
import { isDateTime, isUri } from '../../../../lib/meta/schema/formats.ts'
import { isSafePattern, matchesPattern } from '../../../../lib/meta/schema/pattern.ts'

test.each([
  ['2024-01-01T00:00:00Z', true],
  ['2024-01-01t00:00:00z', true],
  ['2024-02-29T23:59:59.123456789+14:00', true],
  ['2024-01-01T00:00:00', false],
  ['2024-01-01T24:00:00Z', false],
  ['2024-01-01T00:60:00Z', false],
  ['2023-02-29T00:00:00Z', false],
  ['2024-00-01T00:00:00Z', false],
  ['2024-01-01 00:00:00Z', false],
  ['2024-01-01T00:00:00ZTjunk', true],
  ['2024-01-01T00:00:00Zjunk', false],
  ['2024-01-01T00:00:00x5Z', true],
  ['2024-01-01T00:00:00\u{1f600}5Z', true],
  ['2024-01-01T00:00:00\n5Z', false],
  ['2024-01-01T00:00:00.Z', false],
  ['2024-01-01T00:00:00+99:99', true],
  ['2024-01-01T00:00:00Z\n', false],
  ['yesterday', false],
  ['', false],
])('date-time %j: %j', (text, valid) => {
  expect(isDateTime(text)).toBe(valid)
})

// Source: mostly Go's url.ParseRequestURI.
test.each([
  ['https://example.com:8443/x?y#z', true],
  ['https://[::1]:443/', true],
  ['https://user:pass@example.com', true],
  ['foo:bar', true],
  ['/foo bar', true],
  ['http://a/ü', true],
  ['not a uri', false],
  ['foo', false],
  ['', false],
  ['http://a b/', false],
  ['http://a:xx/', false],
  ['http://a/%zz', false],
  ['http://a/\u0000', false],
  ['://a', false],
])('uri %j: %j', (text, valid) => {
  expect(isUri(text)).toBe(valid)
})

test.each([
  ['^[a-z]+$', true],
  ['^a*b{2,}$', true],
  ['^(ab|cd)-[0-9]{1,3}$', true],
  ['^(a+)+$', false],
  ['^(a|a)*$', false],
  ['^(ab){2,}$', false],
  ['^a*b*c*$', false],
  ['^(?=a)b$', false],
  ['^(a)\\1$', false],
  ['[a-z]+', false],
])('the pattern %s is safe: %j', (pattern, safe) => {
  expect(isSafePattern(pattern)).toBe(safe)
})

test('throws for an unsafe pattern instead of running it', () => {
  expect(() => matchesPattern('^(a+)+$', 'a')).toThrow('the pattern ^(a+)+$ could take too long')
  expect(matchesPattern('^[a-z]+$', 'abc')).toBe(true)
  expect(matchesPattern('^[a-z]+$', 'a-c')).toBe(false)
})
