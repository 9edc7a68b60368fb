import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeAncestors,
  decodeCredential,
  decodeFederation,
  decodeSourceCIDRs,
  decodeUser,
  decodeWarnings,
  encodeAncestors,
  encodeCredential,
  encodeFederation,
  encodeSourceCIDRs,
  encodeUser,
  encodeWarnings,
  MAX_CONTEXT,
} from '../../../../lib/authentication/requests/usercontext.ts'
import { MAX_CHAIN_BYTES } from '../../../../lib/authorization/scopes/chain.ts'
import type { UserInfo } from '../../../../lib/authorization/users/user.ts'
import { scope } from '../../authorization/arbitraries.ts'
import { alice } from '../../authorization/users.ts'

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
        expect(decodeUser(encodeUser(value))).toEqual(value)
        expect(encodeUser(value)).toMatch(/^[\w-]+$/)
      }),
      { numRuns: 500, seed: 20261121 },
    )
  })

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
        generation: Number.MAX_SAFE_INTEGER,
      },
      chain,
    }
    expect(encodeUser(largest).length).toBeLessThanOrEqual(MAX_CONTEXT)
    expect(decodeUser(encodeUser(largest))).toEqual(largest)
    expect(() => encodeUser({ ...largest, groups: ['x'.repeat(3000)] })).toThrow('does not fit')
  })

  test('omits the credential, which is encoded separately', () => {
    const credential = { version: '1', hash: 'h', created: 7 }
    expect(encodeUser({ ...alice, credential })).toBe(encodeUser(alice))
    expect(decodeCredential(encodeCredential(credential))).toEqual(credential)
    const retiring = { ...credential, signedIn: 7, until: 9 }
    expect(decodeCredential(encodeCredential(retiring))).toEqual(retiring)
    for (const wrong of [
      { ...credential, hash: '' },
      { ...credential, crit: ['more'], more: 1 },
      { version: '1', hash: 'h' },
      [],
    ]) {
      expect(() => decodeCredential(encodeValue(wrong))).toThrow('the credential of the user')
    }
  })

  test('omits the keys that made the key, which are encoded separately', () => {
    const ancestors = ['uid-1', 'uid-2']
    expect(encodeUser({ ...alice, ancestors })).toBe(encodeUser(alice))
    expect(decodeAncestors(encodeAncestors(ancestors))).toEqual(ancestors)
    for (const wrong of [[], [''], [1], 'uid-1', null, { 0: 'uid-1' }]) {
      expect(() => decodeAncestors(encodeValue(wrong === 'uid-1' ? '"uid-1"' : wrong))).toThrow(
        'the ancestors of the key',
      )
    }
  })

  test('omits what an exchanged key came through, which is encoded separately', () => {
    const federation = { trust: { uid: 't-1', revision: 3 }, provider: { uid: 'p-1', revision: 0 } }
    expect(encodeUser({ ...alice, federation })).toBe(encodeUser(alice))
    expect(decodeFederation(encodeFederation(federation))).toEqual(federation)
    expect(() => decodeFederation(`${encodeFederation(federation)}=`)).toThrow('is not base64url')
    for (const wrong of [{ ...federation, crit: ['more'], more: 1 }, { trust: federation.trust }, [], null]) {
      expect(() => decodeFederation(encodeValue(wrong))).toThrow('federation')
    }
  })

  test('omits the addresses of the key, which are encoded separately', () => {
    const sourceCIDRs = ['10.0.0.0/8', '::1']
    expect(encodeUser({ ...alice, sourceCIDRs })).toBe(encodeUser(alice))
    expect(decodeSourceCIDRs(encodeSourceCIDRs(sourceCIDRs))).toEqual(sourceCIDRs)
    for (const wrong of [[], {}, '10.0.0.0/8', [1], [null], null]) {
      expect(() => decodeSourceCIDRs(encodeValue(wrong))).toThrow('the source addresses of the user')
    }
    expect(() => decodeSourceCIDRs(`${encodeSourceCIDRs(sourceCIDRs)}=`)).toThrow('is not base64url')
  })

  test('comes with warnings as a text of their own', () => {
    const warnings = ['access key "ci" expires in 6d', 'ü']
    expect(decodeWarnings(encodeWarnings(warnings))).toEqual(warnings)
    for (const wrong of [{}, 'text', [1], null]) {
      expect(() => decodeWarnings(encodeValue(wrong))).toThrow('the warnings of the response')
    }
    expect(() => decodeWarnings('')).toThrow('is not JSON')
  })

  test('of a later release is read without the members that this one does not know', () => {
    const later = { ...alice, more: true, key: { ...alice.key, more: {} } }
    expect(decodeUser(encodeValue(later))).toEqual(alice)
    expect(decodeUser(encodeValue(JSON.stringify(later).replace('{', '{"__proto__":{"admin":true},')))).toEqual(alice)
    const credential = { version: '1', hash: 'h', created: 7 }
    expect(decodeCredential(encodeValue({ ...credential, more: 1 }))).toEqual(credential)
    const federation = { trust: { uid: 't-1', revision: 3 }, provider: { uid: 'p-1', revision: 0 } }
    const more = { ...federation, more: 1, trust: { ...federation.trust, more: 1 } }
    expect(decodeFederation(encodeValue(more))).toEqual(federation)
  })

  const bad: [string, string][] = [
    ['an empty context', ''],
    ['text that is not base64url', `${encodeUser(alice)}=`],
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
  test.each(bad)('rejects %s', (_, value) => expect(() => decodeUser(value)).toThrow())
})
