import { expect, test } from 'vitest'
import { deepEqual } from '../../../../../lib/engine/meta/value/equal.ts'

test.each([
  [
    { a: 1, b: [1, { c: null }] },
    { b: [1, { c: null }], a: 1 },
  ],
  [5n, 5],
  [9007199254740993n, 9007199254740993n],
  [{ a: undefined }, {}],
  ['', ''],
])('treats as equal: %#', (one, other) => expect([deepEqual(one, other), deepEqual(other, one)]).toEqual([true, true]))

test.each([
  [{}, []],
  [{}, null],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], [1, 1]],
  [1, '1'],
  [1n, '1'],
  [1n, true],
  [0, false],
  [1n, 1.5],
  [9007199254740993n, 9007199254740992],
  [{ a: null }, {}],
  [{ toString: 1 }, { a: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
])('treats as different: %#', (one, other) => {
  expect([deepEqual(one, other), deepEqual(other, one)]).toEqual([false, false])
})
