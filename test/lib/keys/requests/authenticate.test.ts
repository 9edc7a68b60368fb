import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { generateAccessKey } from '../../../../lib/keys/credential/accesskey.ts'
import { type AuthenticationDeps, authenticate } from '../../../../lib/keys/requests/authenticate.ts'
import { recordActivity } from '../../../../lib/keys/requests/uses.ts'
import { CREATED, HASH, itemOf, storedKey } from '../keys.ts'

const KEY = generateAccessKey(() => new Uint8Array(32).fill(7))

const federation = { trust: { uid: 't-1', revision: 1 }, provider: { uid: 'p-1', revision: 1 }, run: 'a run' }

function world(item: JsonObject | undefined, more: Partial<AuthenticationDeps> = {}) {
  const log: unknown[] = []
  const deps: AuthenticationDeps = {
    hashes: async (key) => (key === KEY ? [HASH] : [{ version: '2', hash: 'other' }]),
    readCredential: async (hashes) => {
      log.push('read')
      return item !== undefined && hashes[0] === HASH ? { hash: HASH, item } : undefined
    },
    readGates: async (keys) => {
      log.push(keys.map(({ pk }) => pk))
      return []
    },
    now: () => CREATED * 1000 + 999,
    readActivity: async () => {
      log.push('activity')
      return undefined
    },
    touch: async (use) => {
      log.push(use)
      return 'done'
    },
    signal: async (item) => void log.push(item),
    touchFailed: (error) => log.push(error),
    ...more,
  }
  return { deps, log }
}

describe('authenticate', () => {
  test('returns the user of a known key and updates the last activity on touch', async () => {
    const { deps, log } = world(itemOf(storedKey({ user: 'alice', ttl: 100 })))
    const result = await authenticate(KEY, deps)
    if (!('user' in result)) throw new Error('not authenticated')
    expect(result.user).toMatchObject({
      name: 'alice',
      key: { name: 'ci', uid: 'u-1', expires: CREATED + 100 },
      chain: [],
    })
    expect(log).toEqual(['read'])
    await recordActivity(result.presented, deps)
    expect(log[1]).toEqual({
      hash: HASH,
      name: 'ci',
      uid: 'u-1',
      at: CREATED,
      attributes: { expiryIndex: 'credential', expiry: CREATED + 100 },
      same: { uid: 'u-1', generation: 1, pending: undefined, until: undefined },
      lacks: ['ended', 'lastActivity'],
      also: [
        {
          pk: 'signal#20261121',
          sk: 'first-used#aGFzaA',
          attributes: { kind: 'first-used', name: 'ci', uid: 'u-1', at: CREATED, expires: CREATED + 7 * 86_400 },
        },
      ],
    })
  })

  test('reads the gates of an exchanged key once, after the credential, and only while the key itself is valid', async () => {
    const open = { attributes: { revision: 1, disabled: false, deleted: false } }
    const exchanged = storedKey({ ttl: 100 }, { federation })
    const { deps, log } = world(itemOf(exchanged))
    const readGates: typeof deps.readGates = async (keys) => {
      await deps.readGates(keys)
      return [open, open]
    }
    expect(await authenticate(KEY, { ...deps, readGates })).toMatchObject({ user: { name: 'admin', federation } })
    expect(log).toEqual(['read', ['trust#t-1', 'provider#p-1']])
    const reopened = { attributes: { ...open.attributes, ended: CREATED + 3 } }
    const found = await authenticate(KEY, { ...deps, readGates: async () => [open, reopened] })
    expect(found).toMatchObject({ user: { key: { lastEnd: CREATED + 3 } } })
    log.length = 0
    expect(await authenticate(KEY, deps)).toEqual({
      dead: 'the federated identity credential of the access key has been deleted',
      key: { name: 'ci', uid: 'u-1', user: 'admin' },
    })
    log.length = 0
    const late = { ...deps, now: () => (CREATED + 100) * 1000 }
    expect(await authenticate(KEY, late)).toMatchObject({ dead: 'access key has expired' })
    expect(log).toEqual(['read'])
  })

  test('rejects when the gates cannot be read, so that the request is not allowed', async () => {
    const failure = new Error('throttled')
    const readGates = () => Promise.reject(failure)
    const { deps } = world(itemOf(storedKey({ ttl: 100 }, { federation })), { readGates })
    await expect(authenticate(KEY, deps)).rejects.toBe(failure)
  })

  test('writes a new address into the history together with the use, where addresses are recorded', async () => {
    const sources = [{ ip: '192.0.2.1', userAgent: 'curl', at: CREATED - 100 }]
    const item = { ...itemOf(storedKey()), lastActivity: CREATED - 100, sources }
    const useFrom = async (ip: string, recordSources: boolean) => {
      const { deps, log } = world(item, { recordSources })
      const result = await authenticate(KEY, deps, { ip, userAgent: 'curl' })
      if (!('user' in result)) throw new Error('not authenticated')
      await recordActivity(result.presented, deps)
      return log[1]
    }
    expect(await useFrom('198.51.100.7', true)).toMatchObject({
      attributes: { addresses: { count: 1 } },
      also: [{ pk: 'history#u-1', attributes: { kind: 'new-address', ip: '198.51.100.7', userAgent: 'curl' } }],
    })
    expect(await useFrom('192.0.2.1', true)).toMatchObject({ also: [] })
    expect(await useFrom('198.51.100.7', false)).toMatchObject({ also: [] })
  })

  test('does not update a recent last activity', async () => {
    const { deps, log } = world({ ...itemOf(storedKey()), lastActivity: CREATED - 60 })
    const result = await authenticate(KEY, deps)
    if (!('user' in result)) throw new Error('not authenticated')
    await recordActivity(result.presented, deps)
    expect(log).toEqual(['read'])
  })

  test('reports a failed touch without failing the request', async () => {
    const failure = new Error('throttled')
    const { deps, log } = world(itemOf(storedKey()), { touch: () => Promise.reject(failure) })
    const result = await authenticate(KEY, deps)
    if (!('user' in result)) throw new Error('not authenticated')
    await recordActivity(result.presented, deps)
    expect(log).toEqual(['read', failure])
  })

  // threat: gateway-2
  test.each([
    undefined,
    '',
    'x',
    'a.b.c'.padEnd(40, 'x'),
    `${KEY}x`,
    KEY.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
    'x'.repeat(10_000),
  ])('a malformed token costs no read: %s', async (token) => {
    const { deps, log } = world(undefined, { hashes: () => Promise.reject(new Error('hashed')) })
    expect(await authenticate(token, deps)).toEqual({ unknown: true })
    expect(log).toEqual([])
  })

  test('returns unknown for an unknown key', async () => {
    expect(await authenticate('x'.repeat(40), world(itemOf(storedKey())).deps)).toEqual({ unknown: true })
    expect(await authenticate(KEY, world(undefined).deps)).toEqual({ unknown: true })
  })

  const key = { name: 'ci', uid: 'u-1', user: 'admin' }
  test('returns the reason for an invalid key', async () => {
    const authenticateItem = async (item: JsonObject, maxTtl?: number) =>
      authenticate(KEY, world(item, maxTtl === undefined ? {} : { maxTtl, now: () => (CREATED + maxTtl) * 1000 }).deps)
    expect(await authenticateItem(itemOf(storedKey({ disabled: true })))).toEqual({
      dead: 'access key is disabled',
      key,
    })
    expect(
      await authenticateItem(itemOf(storedKey({}, {}, { creationTimestamp: '2026-11-20T00:00:00Z' })), undefined),
    ).toHaveProperty('user')
    expect(
      await authenticateItem(itemOf(storedKey({ ttl: 5 }, {}, { creationTimestamp: '2026-11-20T00:00:00Z' }))),
    ).toEqual({ dead: 'access key has expired', key })
    expect(await authenticateItem(itemOf(storedKey()), 3600)).toEqual({ dead: 'access key has expired', key })
    expect(
      await authenticateItem(
        itemOf(storedKey({}, {}, { deletionTimestamp: '2026-11-21T00:00:00Z', finalizers: ['a/b'] })),
      ),
    ).toEqual({ dead: 'access key is being deleted', key })
  })

  // threat: authorizer-10
  test('rejects when an item is corrupt', () =>
    expect(authenticate(KEY, world({ ...itemOf(storedKey()), groups: 'system:masters' }).deps)).rejects.toThrow())
})
