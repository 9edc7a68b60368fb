import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { credentialUser, readCredential, type StoredKey } from '../../../../lib/keys/credential/credential.ts'
import { activityAttributes } from '../../../../lib/keys/credential/expiryindex.ts'
import { decodeKeyInternal, encodeKeyInternal } from '../../../../lib/keys/credential/keyinternal.ts'
import { hasSealedValue, type Sealed } from '../../../../lib/keys/credential/sealed.ts'
import { createCredential, deleteCredentials, updateCredentials } from '../../../../lib/keys/values/writes.ts'
import { CREATED, HASH, itemOf, storedKey } from '../keys.ts'

const PK = 'credential#2#aGFzaA'
const federation = { trust: { uid: 't-1', revision: 3 }, provider: { uid: 'p-1', revision: 0 }, run: 'a run' }
const FULL = storedKey(
  {
    user: 'alice',
    team: 'dev',
    groups: ['x'],
    type: 'User',
    ttl: 100,
    ttlAfterLastActivity: true,
    scope: { clusters: [{ cluster: 'c' }] },
    identity: { preferredUsername: 'Alice', email: 'a@example.com', groups: ['system:masters'] },
  },
  { carried: [{ projects: [{ project: 'a' }] }] },
)

/** The writes for a key that was never rotated. `old` is the item of its value before. */
const updateCredential = (
  before: StoredKey,
  after: StoredKey,
  { sealed = {}, lastActivity, old }: { sealed?: Sealed; lastActivity?: number; old?: JsonObject } = {},
) =>
  updateCredentials(
    { before, after, sealed, ended: [], ...(lastActivity !== undefined && { lastActivity }) },
    CREATED,
    { limits: {}, retentionSeconds: 100, readCredentials: async (hashes) => hashes.map(() => old) },
  )

describe('writing credentials', () => {
  test('stores everything on creation, only if the item does not exist', () =>
    expect(createCredential(FULL, { 'identity.connectorData': 'secret' }, {})).toEqual([
      {
        op: 'put',
        pk: PK,
        sk: '#',
        ifAbsent: true,
        attributes: {
          name: 'ci',
          uid: 'u-1',
          generation: 1,
          type: 'User',
          user: 'alice',
          identity: 'user:alice',
          groups: ['x', 'system:authenticated', 'team:dev'],
          chain: [{ projects: [{ project: 'a' }] }, { clusters: [{ cluster: 'c' }] }],
          created: CREATED,
          ttl: 100,
          ttlAfterLastActivity: true,
          disabled: false,
          deleted: false,
          specUser: 'alice',
          specTeam: 'dev',
          displayName: 'Alice',
          email: 'a@example.com',
          expiryIndex: 'credential',
          expiry: CREATED + 100,
          'sealed:identity.connectorData': 'secret',
        },
      },
    ]))

  test('never sets the TTL attribute of the table', () => {
    for (const companion of createCredential(FULL, {}, {})) expect(companion).not.toHaveProperty('attributes.expires')
  })

  test('removes absent attributes on update and keeps the last activity and sealed values', async () => {
    const [companion] = await updateCredential(
      FULL,
      storedKey({ disabled: true }, {}, { deletionTimestamp: '2026-11-21T01:00:00Z', generation: 2 }),
    )
    expect(companion).toMatchObject({
      op: 'set',
      pk: PK,
      sk: '#',
      attributes: { user: 'admin', generation: 2, disabled: true, deleted: true, chain: [] },
    })
    if (companion?.op !== 'set') throw new Error('a change sets')
    expect(companion.ifAbsent).toBeUndefined()
    expect(companion.attributes).not.toHaveProperty('lastActivity')
    expect([...(companion.remove ?? [])].sort()).toEqual(
      [
        'makers',
        'endedUnused',
        'displayName',
        'email',
        'expiry',
        'expiryIndex',
        'federation',
        'reviewScope',
        'signedIn',
        'sourceCIDRs',
        'specSubject',
        'specTeam',
        'specUser',
        'tokensEnded',
        'ttl',
      ].sort(),
    )
    const [sliding] = await updateCredential(FULL, FULL, { sealed: { x: 'y' }, lastActivity: CREATED + 50 })
    expect(sliding).toMatchObject({ attributes: { expiry: CREATED + 150, 'sealed:x': 'y' } })
    expect(sliding).not.toHaveProperty('attributes.lastActivity')
  })

  test('writes nothing for a change that no credential repeats', async () => {
    const labelled = { ...FULL, object: { ...FULL.object, metadata: { ...FULL.object.metadata, labels: { a: 'b' } } } }
    expect(await updateCredential(FULL, labelled)).toEqual([])
  })

  test('moves activity and sealed values to another value, with new values taking precedence', async () => {
    const old: JsonObject = { ...itemOf(FULL, { a: '1', b: '2' }), lastActivity: CREATED + 500 }
    const internal = encodeKeyInternal({
      ...decodeKeyInternal(FULL.internal),
      credential: { version: '1', hash: 'old' },
    })
    const moved = await updateCredential({ ...FULL, internal }, FULL, { sealed: { b: '3' }, old })
    expect(moved).toMatchObject([
      { op: 'delete', pk: 'credential#1#old', sk: '#' },
      {
        op: 'put',
        pk: PK,
        ifAbsent: true,
        attributes: { lastActivity: CREATED + 500, expiry: CREATED + 600, 'sealed:a': '1', 'sealed:b': '3' },
      },
    ])
    expect(moved[1]).not.toHaveProperty('attributes.pk')
  })

  test('deletes the item, and stores an activity', () => {
    expect(deleteCredentials(FULL)).toEqual([{ op: 'delete', pk: PK, sk: '#' }])
    const credential = readCredential(itemOf(FULL))
    expect(activityAttributes(credential, CREATED + 7, {})).toEqual({
      expiryIndex: 'credential',
      expiry: CREATED + 107,
    })
    expect(activityAttributes(readCredential(itemOf(storedKey())), CREATED, {})).toEqual({})
  })

  test('indexes keys without a ttl if there is a maximum ttl', () => {
    expect(itemOf(storedKey(), {}, 10)).toMatchObject({ expiry: CREATED + 10, expiryIndex: 'credential' })
    expect(itemOf(storedKey())).not.toHaveProperty('expiryIndex')
  })

  test('stores what an exchanged key came through, and indexes its expiry separately, also after a use', async () => {
    const key = storedKey({ ttl: 100 }, { federation })
    expect(itemOf(key)).toMatchObject({ federation, expiryIndex: 'federated', expiry: CREATED + 100 })
    const changed = storedKey({ ttl: 100, disabled: true }, { federation })
    expect((await updateCredential(key, changed))[0]).toMatchObject({
      attributes: { federation, expiryIndex: 'federated' },
    })
    const used = activityAttributes(readCredential(itemOf(key)), CREATED + 1, {})
    expect(used).toEqual({ expiryIndex: 'federated', expiry: CREATED + 100 })
  })

  test('omits display names that are too long', () => {
    const item = itemOf(storedKey({ identity: { preferredUsername: 'x'.repeat(200), email: 5 } }))
    expect(item).not.toHaveProperty('displayName')
    expect(item).not.toHaveProperty('email')
  })
})

describe('reading credentials', () => {
  test('returns the user of a request without sealed values', () => {
    const credential = readCredential(itemOf(FULL, { 'oidcLogin.idToken': 'secret' }))
    expect(JSON.stringify(credential)).not.toContain('secret')
    expect(credentialUser(credential, { expires: CREATED + 100, lastEnd: CREATED + 5 })).toEqual({
      name: 'alice',
      identity: 'user:alice',
      groups: ['x', 'system:authenticated', 'team:dev'],
      key: {
        name: 'ci',
        uid: 'u-1',
        type: 'User',
        user: 'alice',
        team: 'dev',
        displayName: 'Alice',
        email: 'a@example.com',
        expires: CREATED + 100,
        lastEnd: CREATED + 5,
        generation: 1,
      },
      chain: [{ projects: [{ project: 'a' }] }, { clusters: [{ cluster: 'c' }] }],
    })
  })

  test('reports whether a sealed value matches', () => {
    const item = itemOf(FULL, { 'oidcLogin.idToken': 'secret' })
    const tried = ['secret', 'secre', 'secrets', '', 'Secret'].map((value) =>
      hasSealedValue(item, 'oidcLogin.idToken', value),
    )
    expect(tried).toEqual([true, false, false, false, false])
    expect(hasSealedValue(item, 'oidcLogin.accessToken', '')).toBe(false)
    expect(hasSealedValue({ ...item, 'sealed:x': 1 }, 'x', '1')).toBe(false)
  })

  test('accepts items of earlier versions without a generation', () => {
    const { generation: _, ...item } = itemOf(FULL)
    expect(credentialUser(readCredential(item), {}).key).not.toHaveProperty('generation')
  })

  test('returns what an exchanged key came through', () => {
    const item = itemOf(storedKey({}, { federation }))
    expect(credentialUser(readCredential(item), {})).toMatchObject({ name: 'admin', federation })
    expect(credentialUser(readCredential(itemOf(FULL)), {})).not.toHaveProperty('federation')
    for (const wrong of [
      null,
      {},
      { ...federation, crit: ['more'], more: 1 },
      { trust: federation.trust, provider: null },
    ]) {
      expect(() => readCredential({ ...item, federation: wrong } as JsonObject), JSON.stringify(wrong)).toThrow()
    }
  })

  test('ignores members that this release does not know', () => {
    const item = itemOf(FULL, { a: 'secret' })
    expect(readCredential({ ...item, more: { deep: [1] } })).toEqual(readCredential(item))
  })

  test('rejects missing, invalid or unknown critical members', () => {
    const item = itemOf(FULL)
    for (const member of [
      'name',
      'uid',
      'type',
      'user',
      'identity',
      'groups',
      'chain',
      'created',
      'ttlAfterLastActivity',
      'disabled',
      'deleted',
    ]) {
      const { [member]: _, ...rest } = item
      expect(() => readCredential(rest), member).toThrow(`a credential lacks ${member}`)
      expect(() => readCredential({ ...item, [member]: null }), member).toThrow()
    }
    for (const wrong of [
      { ttl: '100' },
      { ttl: -1 },
      { created: 1.5 },
      { created: Number.NaN },
      { groups: 'x' },
      { groups: [1] },
      { identity: 'alice' },
      { user: '' },
      { disabled: 'false' },
      { crit: ['other'], other: 1 },
      { crit: ['disabled', 'other'] },
      { crit: 'disabled' },
      { crit: [] },
      { crit: null },
      { chain: [{ x: [] }] },
      { lastActivity: null },
    ]) {
      expect(() => readCredential({ ...item, ...wrong } as JsonObject), JSON.stringify(wrong)).toThrow()
    }
    expect(() => readCredential({})).toThrow()
  })

  test('throws errors that do not reveal the content', () => {
    expect(() => readCredential({ ...itemOf(FULL), type: { secret: 1 } })).toThrow(/^a credential has a wrong type$/)
    expect(() => readCredential({ ...itemOf(FULL), crit: ['x secret'] })).toThrow(
      /^a credential has a critical member that this release does not know$/,
    )
  })
})

// threat: releases-3
test('the internal part of a key keeps members that this release does not know', () => {
  const later = {
    ...encodeKeyInternal({ creator: 'subject:x', carried: [], credential: HASH }),
    crit: ['credential'],
    more: { deep: [1] },
  }
  const read = decodeKeyInternal(later)
  expect(encodeKeyInternal(read)).toEqual(later)
  const credential = { version: '3', hash: 'bmV3' }
  expect(encodeKeyInternal({ ...read, credential, federation })).toEqual({ ...later, credential, federation })
})

test('decodeKeyInternal reads what encodeKeyInternal returns', () => {
  const internal = { creator: 'subject:x' as const, carried: [{}], credential: HASH }
  expect(decodeKeyInternal(encodeKeyInternal(internal))).toEqual(internal)
  const good = encodeKeyInternal(internal)
  // The previous version wrote nothing else, and reads nothing else.
  expect(Object.keys(good)).toEqual(['creator', 'carried', 'credential'])
  expect(decodeKeyInternal(encodeKeyInternal({ ...internal, federation }))).toEqual({ ...internal, federation })
  expect(decodeKeyInternal(encodeKeyInternal({ ...internal, signedIn: 7 }))).toEqual({ ...internal, signedIn: 7 })
  for (const wrong of [
    { creator: 'x' },
    { creator: 'root:x' },
    { creator: 'user:' },
    { carried: {} },
    { carried: [{ x: 1 }] },
    { credential: null },
    { credential: { version: '1' } },
    { credential: { version: '1', hash: '' } },
    { crit: ['more'], more: 1 },
    { federation: null },
    { federation: { trust: federation.trust } },
  ]) {
    expect(() => decodeKeyInternal({ ...good, ...wrong } as JsonObject), JSON.stringify(wrong)).toThrow()
  }
})
