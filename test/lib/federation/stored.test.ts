/** Tests the readers of stored identity providers and trusts. */
import { describe, expect, test } from 'vitest'
import { decodeProviderInternal, encodeProviderInternal, toProvider } from '../../../lib/federation/provider.ts'
import {
  clientIdOf,
  decodeTrustInternal,
  encodeTrustInternal,
  type TrustInternal,
  toTrust,
} from '../../../lib/federation/trust.ts'
import cases from './vectors/stored.cases.json' with { type: 'json' }

const object = (spec: object, metadata: object = {}) => ({
  apiVersion: 'management.platform/v1',
  kind: 'Any',
  metadata: { name: 'one', uid: 'uid-1', ...metadata },
  spec: spec as never,
})

describe('a provider', () => {
  test('has the revision of its internal part, and is deleted once it has a deletionTimestamp', () => {
    const spec = { issuer: 'https://issuer.example.com' }
    const internal = encodeProviderInternal({ revision: 3 })
    expect(toProvider({ object: object(spec), internal })).toEqual({
      name: 'one',
      uid: 'uid-1',
      revision: 3,
      deleted: false,
      spec,
    })
    const deleted = object(spec, { deletionTimestamp: '2026-11-22T00:00:00Z' })
    expect(toProvider({ object: deleted, internal }).deleted).toBe(true)
  })

  test.each([{}, { revision: -1 }, { revision: '3' }, { revision: 3, crit: ['more'], more: 1 }])(
    'with internal part %j is refused',
    (internal) => expect(() => decodeProviderInternal(internal)).toThrow('the internal part of an identity provider'),
  )
})

test.each([
  ['a provider', decodeProviderInternal, encodeProviderInternal, { revision: 3 }],
  [
    'a trust',
    decodeTrustInternal,
    encodeTrustInternal,
    { creator: 'user:alice', carried: [], providerUid: 'provider-1', revision: 2 },
  ],
] as const)('the internal part of %s keeps members that this release does not know', (_, decode, encode, stored) => {
  const later = { ...stored, crit: ['revision'], more: { deep: [1] } } as never
  const read = decode(later)
  expect(read).toEqual({ ...stored, unknown: { crit: ['revision'], more: { deep: [1] } } })
  expect(encode({ ...read, revision: 4 } as never)).toEqual({ ...(later as object), revision: 4 })
})

describe('a trust', () => {
  const internal: TrustInternal = {
    creator: 'user:alice',
    makers: ['key-0', 'key-1'],
    maker: 'ci',
    carried: [{ projects: [{ project: 'shop' }] }],
    providerUid: 'provider-1',
    revision: 2,
  }

  test('is read as it was written, and its client_id names its uid', () => {
    const spec = { identityProvider: 'github', claims: [{ claim: 'sub', values: ['x'] }] }
    const trust = toTrust({ object: object(spec), internal: encodeTrustInternal(internal) })
    expect(trust).toEqual({ ...internal, name: 'one', uid: 'uid-1', deleted: false, spec })
    expect(clientIdOf(trust)).toBe('one@uid-1')
  })

  test.each(cases.internal)('with internal part %j is refused', (change) => {
    expect(() => decodeTrustInternal({ ...encodeTrustInternal(internal), ...change })).toThrow()
  })
})
