import { describe, expect, test } from 'vitest'
import { MAX_MAKERS, makersOf, makerWarnings, tooManyMakers } from '../../../../lib/keys/credential/makers.ts'
import { alice } from '../../access/users.ts'

const uids = (count: number) => Array.from({ length: count }, (_, index) => `uid-${index}`)
const key = { ...alice.key, name: 'ci', uid: 'uid-of-ci' }

describe('the line of a new key', () => {
  test('ends in the key that makes it', () => {
    expect(makersOf({ key })).toEqual({ makers: ['uid-of-ci'], maker: 'ci' })
    expect(makersOf({ key, makers: uids(2) })).toEqual({ makers: ['uid-0', 'uid-1', 'uid-of-ci'], maker: 'ci' })
  })

  test('is none if no key makes it', () => expect(makersOf({ key: { ...key, uid: '' } })).toEqual({}))

  // threat: revocation-13
  test('is never shortened: a key at its end creates none, and from the 24th generation on there is a warning', () => {
    for (let count = 0; count < MAX_MAKERS; count++) {
      const maker = { key, ...(count > 0 && { makers: uids(count) }) }
      expect(makersOf(maker)).toEqual({ makers: [...uids(count), 'uid-of-ci'], maker: 'ci' })
      expect([count, tooManyMakers(maker), makerWarnings(maker).length]).toEqual([
        count,
        undefined,
        Number(count >= 23),
      ])
    }
    const end = { key, makers: uids(32) }
    const why = /^the access key used descends from 32 others, and the limit is 32: rotate a key instead, or create/u
    expect(tooManyMakers(end)).toMatch(why)
    expect([tooManyMakers({ ...end, key: { ...key, uid: '' } }), makerWarnings({ key: { ...key, uid: '' } })]).toEqual([
      undefined,
      [],
    ])
  })
})
