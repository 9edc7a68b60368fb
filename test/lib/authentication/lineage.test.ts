import { describe, expect, test } from 'vitest'
import { lineOf, MAX_ANCESTORS } from '../../../lib/authentication/lineage.ts'
import { alice } from '../authorization/users.ts'

const uids = (count: number) => Array.from({ length: count }, (_, index) => `uid-${index}`)
const key = { ...alice.key, name: 'ci', uid: 'uid-of-ci' }

describe('the line of a new key', () => {
  test('ends in the key that makes it', () => {
    expect(lineOf({ key })).toEqual({ ancestors: ['uid-of-ci'], maker: 'ci' })
    expect(lineOf({ key, ancestors: uids(2) })).toEqual({ ancestors: ['uid-0', 'uid-1', 'uid-of-ci'], maker: 'ci' })
  })

  test('is none if no key makes it', () => {
    expect(lineOf({ key: { ...key, uid: '' } })).toEqual({})
  })

  test('keeps the first and the nearest of a long line', () => {
    expect(MAX_ANCESTORS).toBe(32)
    expect(lineOf({ key, ancestors: uids(31) })).toMatchObject({ ancestors: [...uids(31), 'uid-of-ci'] })
    const long = { ancestors: ['uid-0', ...uids(32).slice(2), 'uid-of-ci'] }
    expect(lineOf({ key, ancestors: uids(32) })).toMatchObject(long)
    expect(long.ancestors).toHaveLength(32)
  })
})
