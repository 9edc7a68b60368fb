import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasLongNumber, readObject, writeObject } from '../../../../lib/engine/storage/body.ts'
import { marshalItem, unmarshalItem } from '../../../../lib/engine/storage/dynamodb/expressions.ts'
import type { ItemValue } from '../../../../lib/engine/storage/items.ts'
import { widget } from './fixtures.ts'

describe('bodies', () => {
  const digits = fc.stringMatching(/^\d{0,40}$/)

  test('detect long numbers at any position', () => {
    const text = fc.array(fc.oneof(digits, fc.string({ maxLength: 20 })), { maxLength: 6 }).map((all) => all.join(''))
    fc.assert(
      fc.property(text, (one) => {
        expect(hasLongNumber(one)).toBe(/\d{16}/.test(one))
      }),
      { numRuns: 500 },
    )
  })

  test.each([2n ** 53n + 1n, -(2n ** 63n), 9_007_199_254_740_993n])('keep the number %d exact', (number) => {
    const object = widget('a', { number })
    expect(readObject(writeObject(object), 7).spec).toEqual({ number })
  })
})

describe('attributes', () => {
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string(),
      fc.integer(),
      // DynamoDB's numbers have no negative zero.
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).filter((one) => !Object.is(one, -0)),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), tie('value'), { maxKeys: 3 }),
    ),
  })).value

  test('survive a round trip', () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(unmarshalItem(marshalItem({ one: one as ItemValue }))).toEqual({ one })
      }),
    )
  })

  test('fail to decode if their type is unknown', () =>
    expect(() => unmarshalItem({ one: { SS: ['a'] } })).toThrow('unsupported attribute type SS'))
})
