import { expect, test } from 'vitest'
import { isDateTime, isSafePattern, isUri, matchesPattern } from '../../../../../lib/engine/meta/schema/formats.ts'
import cases from './vectors/formats.cases.json' with { type: 'json' }

test.each(cases.dateTime as [string, boolean][])('date-time %j: %j', (text, valid) =>
  expect(isDateTime(text)).toBe(valid),
)

// Source: mostly Go's url.ParseRequestURI.
test.each(cases.uri as [string, boolean][])('uri %j: %j', (text, valid) => expect(isUri(text)).toBe(valid))

test.each(cases.safe as [string, boolean][])('the pattern %s is safe: %j', (pattern, safe) =>
  expect(isSafePattern(pattern)).toBe(safe),
)

test('throws for an unsafe pattern instead of running it', () => {
  expect(() => matchesPattern('^(a+)+$', 'a')).toThrow('the pattern ^(a+)+$ could take too long')
  expect([matchesPattern('^[a-z]+$', 'abc'), matchesPattern('^[a-z]+$', 'a-c')]).toEqual([true, false])
})
