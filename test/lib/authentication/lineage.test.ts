import { describe, expect, test } from 'vitest'
import { fullLine, lineOf, lineWarnings, MAX_ANCESTORS } from '../../../lib/authentication/lineage.ts'
import { alice } from '../authorization/users.ts'

const uids = (count: number) => Array.from({ length: count }, (_, index) => `uid-${index}`)
const key = { ...alice.key, name: 'ci', uid: 'uid-of-ci' }

describe('the line of a new key', () => {
  test('ends in the key that makes it', () => {
    expect(lineOf({ key })).toEqual({ ancestors: ['uid-of-ci'], maker: 'ci' })
    expect(lineOf({ key, ancestors: uids(2) })).toEqual({ ancestors: ['uid-0', 'uid-1', 'uid-of-ci'], maker: 'ci' })
  })

  test('is none if no key makes it', () => expect(lineOf({ key: { ...key, uid: '' } })).toEqual({}))

  test('is never shortened: a key at its end creates none, and from the 24th generation on there is a warning', () => {
    for (let count = 0; count < MAX_ANCESTORS; count++) {
      const maker = { key, ...(count > 0 && { ancestors: uids(count) }) }
      expect(lineOf(maker)).toEqual({ ancestors: [...uids(count), 'uid-of-ci'], maker: 'ci' })
      expect([count, fullLine(maker), lineWarnings(maker).length]).toEqual([count, undefined, Number(count >= 23)])
    }
    const end = { key, ancestors: uids(32) }
    const why = /^the access key used descends from 32 others, and the limit is 32: rotate a key instead, or create/u
    expect(fullLine(end)).toMatch(why)
    expect([fullLine({ ...end, key: { ...key, uid: '' } }), lineWarnings({ key: { ...key, uid: '' } })]).toEqual([
      undefined,
      [],
    ])
  })
})
