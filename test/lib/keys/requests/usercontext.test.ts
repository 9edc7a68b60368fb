import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_CHAIN_BYTES } from '../../../../lib/access/scopes/chain.ts'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import { encodeUser } from '../../../../lib/keys/requests/encodeuser.ts'
import { decodeUser, MAX_CONTEXT } from '../../../../lib/keys/requests/usercontext.ts'
import { scope } from '../../access/arbitraries.ts'
import { alice } from '../../access/users.ts'

const text = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
const user = fc
  .record({
    name: text,
    identity: text.map((name) => `subject:${name}` as const),
    groups: fc.array(text, { maxLength: 4 }).map((groups) => [...groups, 'system:authenticated']),
    key: fc.record(
      {
        name: text,
        uid: text,
        type: fc.constantFrom('', 'User'),
        user: text,
        team: text,
        subject: text,
        displayName: text,
        email: text,
        expires: fc.nat(),
        lastEnd: fc.nat(),
        generation: fc.nat(),
      },
      { requiredKeys: ['name', 'uid', 'type'] },
    ),
    chain: fc.array(scope, { maxLength: 2 }),
  })
  .map((value) => value as UserInfo)

const encodeValue = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

describe('the user in the context', () => {
  test('round-trips', () => {
    fc.assert(
      fc.property(user, (value) => {
        expect(decodeUser(encodeUser(value))).toEqual({ user: value, warnings: [] })
        expect(encodeUser(value)).toEqual({ user: expect.stringMatching(/^[\w-]+$/) })
      }),
      { numRuns: 500, seed: 20261121 },
    )
  })

  // threat: context-3
  test('fits at its maximum size', () => {
    const name = 'x'.repeat(251)
    const chain = [{ clusters: [{ cluster: 'c'.repeat(MAX_CHAIN_BYTES - 31) }] }]
    expect(Buffer.byteLength(JSON.stringify(chain))).toBe(MAX_CHAIN_BYTES)
    const largest: UserInfo = {
      name,
      identity: `user:${name}`,
      groups: ['g'.repeat(1020), `team:${name}`, 'system:authenticated'],
      key: {
        name: 'k'.repeat(253),
        uid: 'u'.repeat(36),
        type: 'OIDCRefreshToken',
        user: name,
        team: name,
        subject: name,
        displayName: 'd'.repeat(126),
        email: 'e'.repeat(126),
        expires: 253_402_300_799,
        lastEnd: 253_402_300_799,
        generation: Number.MAX_SAFE_INTEGER,
      },
      mayReview: true,
      chain,
    }
    expect(decodeUser(encodeUser(largest)).user).toEqual(largest)
    expect(() => encodeUser({ ...largest, groups: ['x'.repeat(3000)] })).toThrow('does not fit')
  })

  test('leaves out the last warnings that do not fit, because they refuse nothing', () => {
    const told = decodeUser(encodeUser(alice, ['short', 'x'.repeat(8000)]))
    expect(told).toEqual({ user: alice, warnings: ['short'] })
    expect(decodeUser(encodeUser(alice, ['x'.repeat(8000)])).warnings).toEqual([])
  })

  const credential = { version: '1', hash: 'h', created: 7 }
  const federation = { trust: { uid: 't-1', revision: 3 }, provider: { uid: 'p-1', revision: 0 }, run: 'a run' }
  // threat: use-13
  test.each([
    { name: 'credential', value: credential, wrong: [{ ...credential, hash: '' }, { version: '1', hash: 'h' }, []] },
    { name: 'credential', value: { ...credential, signedIn: 7, until: 9 }, wrong: [{ ...credential, until: '9' }] },
    {
      name: 'credential',
      value: { ...credential, successor: { version: '1', hash: 'i' } },
      wrong: [
        { ...credential, successor: { version: '1' } },
        { ...credential, crit: ['more'], more: 1 },
      ],
    },
    {
      name: 'federation',
      value: federation,
      wrong: [{ ...federation, crit: ['more'], more: 1 }, { trust: federation.trust }, [], null],
    },
    { name: 'makers', value: ['uid-1', 'uid-2'], wrong: [[], [''], [1], '"uid-1"', null, { 0: 'uid-1' }] },
    { name: 'sourceCIDRs', value: ['10.0.0.0/8', '::1'], wrong: [[], {}, '"10.0.0.0/8"', [1], [null], null] },
  ])('has a text of its own for $name, and a malformed one is rejected', ({ name, value, wrong }) => {
    const texts: Record<string, string> = encodeUser({ ...alice, [name]: value })
    expect(texts).toEqual({ ...encodeUser(alice), [name]: expect.any(String) })
    expect(decodeUser(texts).user).toEqual({ ...alice, [name]: value })
    for (const text of [`${texts[name]}=`, '', 1, ...wrong.map(encodeValue)]) {
      expect(() => decodeUser({ ...texts, [name]: text }), String(text)).toThrow(/credential|federation|makers|source/)
    }
  })

  test('comes with warnings as a text of their own', () => {
    const warnings = ['access key "ci" expires in 6d', 'ü']
    const texts = encodeUser(alice, warnings)
    expect(decodeUser(texts)).toEqual({ user: alice, warnings })
    for (const wrong of [{}, '"text"', [1], null]) {
      expect(() => decodeUser({ ...texts, warnings: encodeValue(wrong) })).toThrow('the warnings of the response')
    }
  })

  test('of a later release is read without the members that this one does not know', () => {
    const later = { ...alice, more: true, key: { ...alice.key, more: {} } }
    const passed = { ...federation, more: 1, trust: { ...federation.trust, more: 1 } }
    const texts = { user: later, credential: { ...credential, more: 1 }, federation: passed, more: [] }
    const encoded = Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, encodeValue(value)]))
    expect(decodeUser(encoded).user).toEqual({ ...alice, credential, federation })
    const user = encodeValue(JSON.stringify(later).replace('{', '{"__proto__":{"admin":true},'))
    expect(decodeUser({ user }).user).toEqual(alice)
  })

  const bad: [string, string][] = [
    ['an empty context', ''],
    ['text that is not base64url', `${encodeUser(alice).user}=`],
    ['base64url with wrong bits at its end', 'eyB9'.slice(0, 3)],
    ['text that is not JSON', encodeValue('{')],
    ['null', encodeValue('null')],
    ['a list', encodeValue([])],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('base64url')],
    ['no groups', encodeValue({ ...alice, groups: undefined })],
    ['groups without system:authenticated', encodeValue({ ...alice, groups: ['dev'] })],
    ['groups that are not a list', encodeValue({ ...alice, groups: 'system:authenticated' })],
    ['no chain', encodeValue({ ...alice, chain: undefined })],
    ['a chain with unknown members', encodeValue({ ...alice, chain: [{ x: [] }] })],
    ['no name', encodeValue({ ...alice, name: '' })],
    ['an unknown critical member', encodeValue({ ...alice, crit: ['limit'], limit: 1 })],
    ['a key without uid', encodeValue({ ...alice, key: { name: 'k', type: '' } })],
    ['a key with an unknown critical member', encodeValue({ ...alice, key: { ...alice.key, crit: ['x'], x: 1 } })],
    ['an expiry that is text', encodeValue({ ...alice, key: { ...alice.key, expires: '1' } })],
    ['a context over the limit', 'A'.repeat(MAX_CONTEXT + 1)],
  ]
  // threat: context-2
  test.each(bad)('rejects %s', (_, user) => expect(() => decodeUser({ user })).toThrow())
})
