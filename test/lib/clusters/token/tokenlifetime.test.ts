import { describe, expect, test } from 'vitest'
import { tokenLifetime } from '../../../../lib/clusters/token/tokenlifetime.ts'
import { StatusError } from '../../../../lib/engine/meta/errors/status.ts'

const now = new Date('2026-11-21T12:00:00.900Z')
const seconds = Math.floor(now.getTime() / 1000)
const lifetime = (ttl: number | bigint | undefined, expires?: number, maxSeconds = 604_800) =>
  tokenLifetime('spec.ttl', ttl, { maxSeconds, now, key: expires === undefined ? {} : { expires } })

const refusal = (value: string, detail: string) => ({
  error: { type: 'FieldValueInvalid', field: 'spec.ttl', message: `Invalid value: ${value}: ${detail}` },
})

describe('the lifetime of a token', () => {
  test.each<[string, number | bigint | undefined, number]>([
    ['absent', undefined, 86_400],
    ['0', 0, 86_400],
    ['one second', 1, 1],
    ['the maximum', 604_800, 604_800],
  ])('ttl %s', (_, ttl, expected) => expect(lifetime(ttl)).toEqual({ seconds: expected, warnings: [] }))

  test('never exceeds the maximum by default', () =>
    expect(lifetime(undefined, undefined, 3600)).toEqual({ seconds: 3600, warnings: [] }))

  test.each<[number | bigint, string]>([
    [604_801, '604801'],
    [9_007_199_254_740_992n, '9007199254740992'],
    [9_223_372_036_854_775_807n, '9223372036854775807'],
  ])('over the maximum: %s', (ttl, text) =>
    expect(lifetime(ttl)).toEqual(refusal(text, 'may not specify a duration larger than 604800 seconds')),
  )

  test.each<[number | bigint, string]>([
    [-1, '-1'],
    [-9_223_372_036_854_775_808n, '-9223372036854775808'],
  ])('below zero: %s', (ttl, text) =>
    expect(lifetime(ttl)).toEqual(refusal(text, 'must be greater than or equal to 0')),
  )
})

describe('the lifetime of the key', () => {
  // threat: exchange-28, tokens-3
  test('limits the token, with the TokenRequest warning', () =>
    expect(lifetime(3600, seconds + 600)).toEqual({
      seconds: 600,
      warnings: ['requested expiration of 3600 seconds shortened to 600 seconds'],
    }))

  test('limits the default too', () =>
    expect(lifetime(undefined, seconds + 600)).toEqual({
      seconds: 600,
      warnings: ['requested expiration of 86400 seconds shortened to 600 seconds'],
    }))

  test('does not limit a token that expires with the key', () =>
    expect(lifetime(3600, seconds + 3600)).toEqual({ seconds: 3600, warnings: [] }))

  test('is rounded down to whole seconds', () => expect(lifetime(3600, seconds + 10.9)).toMatchObject({ seconds: 10 }))

  test.each([0, -1])('throws 401 for an expired key (%d seconds left)', (left) => {
    expect(() => lifetime(3600, seconds + left)).toThrow(StatusError)
    expect(() => lifetime(3600, seconds + left)).toThrow('access key has expired')
  })
})
