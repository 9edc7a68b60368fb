import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EXTRA, extrasOf, readExtras } from '../../../lib/token/extras.ts'
import { scope } from '../authorization/arbitraries.ts'

const key = { name: 'ci', uid: 'u-1', type: '' }
const place = { type: 'cluster', name: 'eu' } as const
const whole = extrasOf({ key, chain: [] }, place)

describe('extras', () => {
  test('round-trip', () => {
    fc.assert(
      fc.property(fc.array(scope, { maxLength: 3 }), (chain) => {
        const read = readExtras(extrasOf({ key, chain }, place))
        expect(read).toEqual({ key: { name: 'ci', uid: 'u-1' }, chain: JSON.parse(JSON.stringify(chain)), place })
      }),
    )
  })

  test('are undefined for users of other systems', () => {
    expect(readExtras({})).toBeUndefined()
    expect(readExtras({ 'authentication.kubernetes.io/credential-id': ['x'], __proto__: ['y'] })).toBeUndefined()
  })

  test.each(Object.values(EXTRA))('are a problem when %s is missing, repeated or in two spellings', (name) => {
    const { [name]: value = [], ...rest } = whole
    for (const extra of [
      rest,
      { ...rest, [name]: [] },
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
  ])('are a problem when the scopes are malformed: %j', (scopes) => {
    expect(readExtras({ ...whole, [EXTRA.scopes]: [scopes] })).toEqual({
      problem: 'the extra of the user does not contain valid scopes',
    })
  })

  test('omit the target without a place', () => {
    expect(readExtras(extrasOf({ key, chain: [] }, undefined))).toEqual({
      problem: 'the extra of the user does not identify one cluster',
    })
  })
})
