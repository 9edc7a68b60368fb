import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EXTRA, PRIVATE_CLAIM } from '../../../../lib/clusters/token/contract.ts'
import { extrasOf, readExtras } from '../../../../lib/clusters/token/extras.ts'
import { MANAGEMENT_GROUP } from '../../../../lib/kinds.ts'
import { scope } from '../../access/arbitraries.ts'

const key = { name: 'ci', uid: 'u-1', type: '' }
const place = { type: 'cluster', name: 'eu' } as const
const now = new Date(1_795_257_600_999)
const whole = extrasOf({ key, chain: [] }, place, now)

describe('extras', () => {
  test('round-trip', () => {
    fc.assert(
      fc.property(fc.array(scope, { maxLength: 3 }), (chain) => {
        const read = readExtras(extrasOf({ key, chain }, place, now))
        expect(read).toEqual({
          key: { name: 'ci', uid: 'u-1' },
          chain: JSON.parse(JSON.stringify(chain)),
          place,
          issuedAt: 1_795_257_600,
        })
      }),
    )
  })

  test('are undefined for users of other systems', () => {
    expect(readExtras({})).toBeUndefined()
    expect(readExtras({ 'authentication.kubernetes.io/credential-id': ['x'], __proto__: ['y'] })).toBeUndefined()
  })

  const { issuedAt, run, ...required } = EXTRA

  test.each(Object.values(required))('are a problem when %s is missing', (name) => {
    const { [name]: _, ...rest } = whole
    for (const extra of [rest, { ...rest, [name]: [] }])
      expect(readExtras(extra)).toMatchObject({ problem: expect.any(String) })
  })

  // It is for the cluster's audit log.
  test('do not depend on the run', () => {
    expect(whole[run]).toEqual(['key ci'])
    const { [run]: _, ...rest } = whole
    for (const extra of [rest, { ...rest, [run]: ['a', 'b'] }]) expect(readExtras(extra)).toEqual(readExtras(whole))
    expect(readExtras({ [run]: ['key ci'] })).toMatchObject({ problem: expect.any(String) })
  })

  test('of a cluster that does not send the time of issue have the earliest time', () => {
    const { [issuedAt]: _, ...rest } = whole
    for (const extra of [rest, { ...rest, [issuedAt]: [] }]) expect(readExtras(extra)).toMatchObject({ issuedAt: 0 })
  })

  test.each(['', '0', '-1', '1.795257e+09', '1e9', ' 1', '01', '1795257600x', '9'.repeat(13)])(
    'are a problem when the time of issue is %j',
    (text) =>
      expect(readExtras({ ...whole, [issuedAt]: [text] })).toEqual({
        problem: 'the extra of the user does not contain one valid time of issue',
      }),
  )

  test.each([...Object.values(required), issuedAt])('are a problem when %s is repeated or in two spellings', (name) => {
    const { [name]: value = [], ...rest } = whole
    for (const extra of [
      { ...rest, [name]: [...value, ...value] },
      { ...whole, [name.toUpperCase()]: value },
    ])
      expect(readExtras(extra)).toMatchObject({ problem: expect.any(String) })
    expect(readExtras({ [name]: value })).toMatchObject({ problem: expect.any(String) })
    expect(readExtras({ ...rest, [name.toUpperCase()]: value })).toEqual(readExtras(whole))
  })

  test.each([
    '',
    'null',
    '{}',
    '[1]',
    '[',
    '[{}]x',
    '[{"x":1}]',
    '[{"clusters":[],"clusters":[]}]',
    `[${'{},'.repeat(8)}{}]`,
    `[{"clusters":[{"cluster":"${'x'.repeat(4100)}"}]}]`,
  ])('are a problem when the scopes are malformed: %j', (scopes) =>
    expect(readExtras({ ...whole, [EXTRA.scopes]: [scopes] })).toEqual({
      problem: 'the extra of the user does not contain valid scopes',
    }),
  )

  test('omit the target without a place', () =>
    expect(readExtras(extrasOf({ key, chain: [] }, undefined, now))).toEqual({
      problem: 'the extra of the user does not identify one cluster',
    }))
})

test('the claim of tokens is named after the API group, as every extra is', () => {
  expect(PRIVATE_CLAIM).toBe(MANAGEMENT_GROUP)
  expect(Object.values(EXTRA).filter((name) => !name.startsWith(`${MANAGEMENT_GROUP}/`))).toEqual([])
})
