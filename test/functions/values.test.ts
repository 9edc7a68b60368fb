/** Tests the values of a key against the real store: rotations, their ends, and requests that race with them. */
import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { UserInfo } from '../../lib/access/users/user.ts'
import type { JsonObject, KubeObject } from '../../lib/engine/meta/types.ts'
import { deleteObject } from '../../lib/engine/registry/delete.ts'
import type { Store } from '../../lib/engine/registry/store.ts'
import { updateObject } from '../../lib/engine/registry/update.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { decodeKeyInternal, type KeyInternal } from '../../lib/keys/credential/keyinternal.ts'
import { readSignal, signalPartition } from '../../lib/keys/credential/signals.ts'
import { requireNewValue } from '../../lib/keys/ownedaccesskey.credential.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import type { ChangeValues } from '../../lib/keys/ownedaccesskey.values.ts'
import type { AuthenticationDeps, LivingKey } from '../../lib/keys/requests/authenticate.ts'
import { decodeUser } from '../../lib/keys/requests/usercontext.ts'
import { confirmFirstUse, recordActivity } from '../../lib/keys/requests/uses.ts'
import { valuesOf } from '../../lib/keys/values/keyvalues.ts'
import { endLeaked } from '../../lib/keys/values/leak.ts'
import { finishRotation, startRotation } from '../../lib/keys/values/rotation.ts'
import { authenticationDeps } from '../../lib/server/authentication.ts'
import type { Server } from '../../lib/server/server.ts'
import { createExchangedKey, newFederation } from '../support/exchangedkeys.ts'
import { type Json, useFunctions } from '../support/functions.ts'
import { makeGate } from '../support/gate.ts'
import { admin, contextOf } from '../support/users.ts'
import { accessKeys, callsOf, objectOf } from './stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read, patch, remove } = callsOf(functions, accessKeys)

const gate = makeGate()
let server: Server
let store: Store
beforeAll(async () => {
  const { parts, store: table } = functions.get()
  server = parts
  store = parts.storeOf(OwnedAccessKey)
  await parts.storage.get(OwnedAccessKey.table, 'none')
  table.around = gate.around
})

/** Seconds by which the clock of this test is ahead. */
let ahead = 0
beforeEach(() => {
  ahead = 0
})
const now = () => new Date(Date.now() + ahead * 1000)
const seconds = () => Math.floor(now().getTime() / 1000)

interface Key {
  name: string
  token: string
}
let count = 0
async function createKey(spec: object = {}, metadata: object = {}): Promise<Key> {
  const name = `values-${++count}`
  const made = await make({ name, ...metadata }, { user: 'alice', ...spec })
  return { name, token: made.spec.key }
}

const contextAs = (user: UserInfo) => contextOf(user, { now: now() })

/** Updates a key as the server itself does for a rotation or a leak. */
function changeValues(name: string, change: ChangeValues, user = admin) {
  const transform = (object: KubeObject) => ({ object, secrets: [] })
  const intent = { type: 'leak', change } as const
  const request = { namespace: '', name, subresource: '', verb: 'update', transform, intent } as const
  return updateObject(store, request, contextAs(user))
}

const change = (name: string, edit: (object: KubeObject) => KubeObject = (live) => live, secrets: JsonObject = {}) =>
  updateObject(
    store,
    {
      namespace: '',
      name,
      subresource: '',
      verb: 'update',
      transform: (live) => ({
        object: edit(live),
        secrets: Object.entries(secrets).map(([path, value]) => ({ path: ['spec', ...path.split('.')], value })),
      }),
    },
    contextAs(admin),
  )
const specOf = (spec: JsonObject) => (live: KubeObject) => ({ ...live, spec: { ...live.spec, ...spec } })
let label = 0
const labelled = (live: KubeObject): KubeObject => ({
  ...live,
  metadata: { ...live.metadata, labels: { at: String(++label) } },
})

/** Makes a pending value and returns it. */
async function rotate({ name }: Key, overlap = 60, token = server.keys.generate()): Promise<string> {
  const hashes = await server.keys.hashes(token)
  const [credential] = hashes
  if (!credential) throw new Error('no pepper')
  await changeValues(name, async (settled, before) => {
    const created = Date.parse(before.object.metadata.creationTimestamp ?? '') / 1000
    const change = startRotation(settled, { credential, made: seconds(), overlap, by: 'other' }, created)
    return { ...change, items: await requireNewValue(server, name, { hashes, stored: credential }) }
  })
  return token
}
const finish = ({ name }: Key) => changeValues(name, finishRotation)
async function leak({ name }: Key, token: string): Promise<void> {
  const [hash] = await server.keys.hashes(token)
  await changeValues(name, (settled) => hash && endLeaked(settled, hash, { at: seconds() }))
}

let deps: AuthenticationDeps
beforeAll(() => {
  const fail = (error: unknown) => {
    throw error
  }
  deps = { ...authenticationDeps(server, fail), now: () => now().getTime() }
})

const authenticate = async (token: string) => {
  const { authenticate } = await import('../../lib/keys/requests/authenticate.ts')
  return authenticate(token, deps)
}
async function alive(token: string): Promise<LivingKey> {
  const result = await authenticate(token)
  if (!('user' in result)) throw new Error(JSON.stringify(result))
  return result
}
/** Returns the state of a value, or why it gives no access. */
async function stateOf(token: string): Promise<string> {
  const result = await authenticate(token)
  if ('user' in result) return result.presented.judged.state
  return 'dead' in result ? result.dead : 'unknown'
}
const states = (...tokens: string[]) => Promise.all(tokens.map(stateOf))
async function use(token: string): Promise<UserInfo> {
  const { user, credential, presented } = await alive(token)
  expect(await confirmFirstUse(presented, deps)).toBeUndefined()
  await recordActivity(presented, deps)
  return { ...user, credential }
}
async function itemOf(token: string): Promise<JsonObject | undefined> {
  for (const hash of await server.keys.hashes(token)) {
    const { pk, sk } = credentialItemKey(hash)
    const item = await getCompanion(server.storage, { pk, sk })
    if (item) return item.attributes
  }
  return undefined
}
const rowOf = async (name: string) => {
  const stored = await server.storage.get(OwnedAccessKey.table, name)
  if (!stored) throw new Error(`${name} is gone`)
  return { ...stored, values: decodeKeyInternal(stored.internal) }
}
const generationOf = async (name: string) => (await rowOf(name)).object.metadata.generation
const namesOf = (internal: KeyInternal) => valuesOf(internal).map(({ state }) => state)

/** Asks the authorizer for a GET, or what `more` says. */
const ask = (token: string, more: object = {}) =>
  functions.run('authorizer', (event: Json) => ({
    ...event,
    ...more,
    multiValueHeaders: { ...event.multiValueHeaders, Authorization: [`Bearer ${token}`] },
  }))

const ROTATED = 'access key value was rotated'
const LEAKED = 'access key value was reported as leaked'

describe('a rotation', () => {
  test('gives access with both values, and changes nothing for the old one', async () => {
    const key = await createKey()
    const old = await alive(key.token)
    const token = await rotate(key)
    expect(await states(key.token, token)).toEqual(['Current', 'Pending'])
    expect((await alive(key.token)).user).toEqual(old.user)
    expect(await generationOf(key.name)).toBe(1)
    expect((await alive(token)).user.key.generation).toBe(2)
    const { uid } = old.user.key
    expect(await itemOf(token)).toMatchObject({ value: 2, pending: true, expiryIndex: 'rotation', uid })
    expect(await itemOf(token)).not.toHaveProperty('firstUsed')
  })

  test('lets the old value retire from the first use of the new one, until the overlap has passed', async () => {
    const key = await createKey()
    const token = await rotate(key, 60)
    await use(token)
    const { firstUsed } = (await itemOf(token)) as { firstUsed: number }
    expect(await alive(key.token)).toMatchObject({
      presented: { judged: { state: 'Retiring', until: firstUsed + 60 } },
    })
    expect(await states(token)).toEqual(['Current'])
    expect(await generationOf(key.name)).toBe(1)
    ahead += 61
    expect(await states(key.token, token)).toEqual([ROTATED, 'Current'])
    await use(token)
  })

  // threat: rotation-1
  test('never ends by itself: an unused value waits, and the old one works', async () => {
    const key = await createKey()
    const token = await rotate(key, 0)
    ahead += 30 * 86_400
    await use(key.token)
    expect(await states(key.token, token)).toEqual(['Current', 'Pending'])
  })

  test('shows the end of a value in the format of the server, and of no other', async () => {
    const key = await createKey()
    expect(await itemOf(key.token)).toMatchObject({ hint: key.token.slice(-6) })
    expect((await read(key.name)).status).not.toHaveProperty('hint')
    await rotate(key)
    const { status } = await read(key.name)
    expect(status.hint).toBe(key.token.slice(-6))
    expect(status.values).toEqual([
      expect.objectContaining({ state: 'Current', hint: key.token.slice(-6) }),
      expect.anything(),
    ])
    const own = await createKey({ key: `${'own-value-of-'.padEnd(40, 'x')}${key.name}` })
    expect(await itemOf(own.token)).not.toHaveProperty('hint')
    expect((await read(own.name)).status).not.toHaveProperty('hint')
    const made = generateAccessKey(randomBytes)
    const supplied = await createKey({ key: made })
    expect(await itemOf(made)).toMatchObject({ hint: made.slice(-6) })
    const next = generateAccessKey(randomBytes)
    await patch(supplied.name, 'merge', { spec: { key: next } })
    await rotate(supplied)
    expect((await read(supplied.name)).status.hint).toBe(next.slice(-6))
  })

  test('is preceded by the end of the value also where an exchange made the key, so that a revocation shows it', async () => {
    const { name, token } = await createExchangedKey(server, newFederation())
    const spec = { names: [name] }
    const query = { dryRun: 'All' }
    const { json } = await functions.invoke('accesskeyrevocations/create', { user: admin, query, body: { spec } })
    expect(json.status.keys).toEqual([expect.objectContaining({ name, hint: token.slice(-6) })])
  })

  test('copies the write-only values to the new value', async () => {
    const key = await createKey({ identity: { connectorData: 'sealed' } })
    const token = await rotate(key)
    expect(await itemOf(token)).toMatchObject({ 'sealed:identity.connectorData': 'sealed' })
    await change(key.name, (live) => live, { 'identity.connectorData': 'other' })
    for (const one of [key.token, token]) {
      expect(await itemOf(one)).toMatchObject({ 'sealed:identity.connectorData': 'other' })
    }
  })

  // threat: rotation-19
  test('with the value of another key, or one that ended, is a 422', async () => {
    const key = await createKey()
    const other = await createKey()
    await expect(rotate(key, 60, other.token)).rejects.toMatchObject({ status: { code: 422 } })
    const token = await rotate(key)
    await finish(key)
    await expect(rotate(key, 60, token)).rejects.toMatchObject({ status: { code: 422 } })
    await expect(rotate(other, 60, token)).rejects.toMatchObject({ status: { code: 422 } })
    expect(namesOf((await rowOf(key.name)).values)).toEqual(['Current'])
  })
})

describe('signals', () => {
  const signalsOf = async (name: string) => {
    const days = new Set([Date.now() / 1000, seconds()].map(signalPartition))
    const pages = await Promise.all([...days].map((day) => server.storage.queryCompanions(day)))
    const all = pages.flatMap(({ items }) => items.map(({ attributes }) => readSignal(attributes)))
    return all.filter((one) => one.name === name)
  }

  test('tell of the use of an ended value by a review or a Self, unless that is a dry run', async () => {
    for (const present of [review, self]) {
      const key = await createKey({ scope: { clusters: [{ cluster: 'eu' }] } })
      const token = await rotate(key)
      await finish(key)
      await present(token, { dryRun: 'All' })
      expect(await signalsOf(key.name)).toEqual([])
      await present(token)
      expect(await signalsOf(key.name)).toMatchObject([{ kind: 'reused' }])
    }
  })

  test('tell of the first use of a key, and of each value that a rotation made', async () => {
    const key = await createKey()
    await use(key.token)
    const token = await rotate(key)
    ahead += 100
    await use(key.token)
    expect((await signalsOf(key.name)).map(({ kind }) => kind)).toEqual(['first-used'])
    await use(token)
    ahead += 100
    await use(token)
    expect(await signalsOf(key.name)).toMatchObject([{ kind: 'first-used' }, { kind: 'rotated', value: 2 }])
  })

  test('tell nothing of the first use of a retiring value', async () => {
    const key = await createKey()
    await use(await rotate(key))
    await use(key.token)
    expect((await signalsOf(key.name)).map(({ kind }) => kind)).toEqual(['rotated'])
  })
})

describe('settling', () => {
  test('keeps a use that was allowed before from putting a retiring value into the index of keys', async () => {
    const key = await createKey({ ttl: 1_000_000 })
    const old = await alive(key.token)
    await use(await rotate(key, 60))
    await change(key.name, labelled)
    const settled = await itemOf(key.token)
    await recordActivity(old.presented, deps)
    expect(await itemOf(key.token)).toEqual(settled)
  })

  test('by any write keeps what both values may do, and the generation that requests see', async () => {
    const key = await createKey({ ttl: 1_000_000 })
    const token = await rotate(key)
    await use(token)
    const before = [await alive(key.token), await alive(token)]
    await change(key.name, labelled)
    expect(await generationOf(key.name)).toBe(2)
    expect(namesOf((await rowOf(key.name)).values)).toEqual(['Current', 'Retiring'])
    const after = [await alive(key.token), await alive(token)]
    expect(after.map(({ user, presented }) => [user, presented.judged.state])).toEqual(
      before.map(({ user, presented }) => [user, presented.judged.state]),
    )
    expect(await itemOf(token)).toMatchObject({ expiryIndex: 'credential', firstUsed: expect.any(Number) })
    expect(await itemOf(token)).not.toHaveProperty('pending')
    expect(await itemOf(key.token)).toMatchObject({ expiryIndex: 'rotation' })
    expect(await itemOf(key.token)).not.toHaveProperty('successor')
  })

  test('is seen by a change of the spec in the same write as a generation of its own', async () => {
    const key = await createKey()
    const token = await rotate(key)
    const user = await use(token)
    await change(key.name, specOf({ displayName: 'changed' }))
    expect(await generationOf(key.name)).toBe(3)
    expect((await alive(token)).user.key.generation).toBe(3)
    expect((await alive(key.token)).user.key.generation).toBe(2)
    expect(await server.currentGeneration(contextOf(user))).not.toBe(user.key.generation)
  })

  test('after the overlap leaves a tombstone, and changes nothing for the new value', async () => {
    const key = await createKey()
    const token = await rotate(key, 10)
    const user = await use(token)
    ahead += 11
    await change(key.name)
    const [at, expires] = [expect.any(Number), expect.any(Number)]
    expect(await itemOf(key.token)).toEqual({
      ended: 'rotated',
      name: key.name,
      uid: user.key.uid,
      user: 'alice',
      at,
      expires,
      value: 1,
    })
    expect(await states(key.token, token)).toEqual([ROTATED, 'Current'])
    expect(await server.currentGeneration(contextOf(user))).toBe(user.key.generation)
    expect(await rotate(key)).toMatch(/^mpk_/)
  })

  test('of a retiring value whose time has passed is a separate write, and happens once', async () => {
    const key = await createKey()
    await use(await rotate(key, 10))
    await change(key.name)
    ahead += 11
    await change(key.name)
    const { rv, values } = await rowOf(key.name)
    expect(namesOf(values)).toEqual(['Current'])
    await change(key.name)
    expect((await rowOf(key.name)).rv).toBe(rv)
  })
})

describe('ending values', () => {
  test('leaves what later requests and writes need, and nothing else', async () => {
    const [finished, replaced, leaked] = [await createKey(), await createKey(), await createKey()]
    await rotate(finished)
    await finish(finished)
    expect(await itemOf(finished.token)).not.toHaveProperty('successor')
    const second = await rotate(replaced)
    await use(second)
    await change(replaced.name, undefined, { key: server.keys.generate() })
    expect(await itemOf(second)).toMatchObject({ firstUsed: expect.any(Number) })
    await leak(leaked, leaked.token)
    expect(await itemOf(leaked.token)).not.toHaveProperty('expires')
    await use(await rotate(leaked))
    await change(leaked.name, labelled)
    const { values } = await rowOf(leaked.name)
    expect([namesOf(values), values.ended, values.tokensNotBefore]).toEqual([
      ['Current'],
      undefined,
      expect.any(Number),
    ])
  })

  test('no value of the key but a new one can be supplied', async () => {
    const key = await createKey()
    const token = await rotate(key)
    const invalid = { status: { code: 422 } }
    await expect(change(key.name, undefined, { key: token })).rejects.toMatchObject(invalid)
    await use(token)
    await expect(change(key.name, undefined, { key: key.token })).rejects.toMatchObject(invalid)
    await finish(key)
    await expect(change(key.name, undefined, { key: key.token })).rejects.toMatchObject(invalid)
    await leak(key, token)
    await expect(change(key.name, undefined, { key: token })).rejects.toMatchObject(invalid)
    await expect(make({ name: `new-${key.name}` }, { user: 'alice', key: token })).rejects.toThrow()
  })

  test('a value whose overlap has passed cannot be supplied, although the key has not been settled since', async () => {
    const key = await createKey()
    const token = await rotate(key)
    await use(token)
    ahead = 120
    await expect(change(key.name, undefined, { key: key.token })).rejects.toMatchObject({ status: { code: 422 } })
    expect(await states(key.token, token)).toEqual([ROTATED, 'Current'])
  })

  test('the tombstone of a leaked current value is in the index until the key has another current value', async () => {
    const index = { expiryIndex: 'credential', expiry: expect.any(Number) }
    const key = await createKey({ ttl: 3600 })
    await leak(key, key.token)
    expect(await itemOf(key.token)).toMatchObject({ ended: 'leaked', ...index })
    await change(key.name, specOf({ ttl: 0 }))
    expect(await itemOf(key.token)).not.toHaveProperty('expiryIndex')
    await change(key.name, specOf({ ttl: 7200 }))
    expect(await itemOf(key.token)).toMatchObject({ ended: 'leaked', ...index })
    await change(key.name, undefined, { key: server.keys.generate() })
    expect(await itemOf(key.token)).not.toHaveProperty('expiryIndex')
    expect(await states(key.token)).toEqual([LEAKED])
  })
})

describe('every value of a key', () => {
  /** A key with an unused value, and one with a used one, settled or not. */
  async function keysInRotation(metadata: object = {}) {
    const made: { name: string; tokens: string[] }[] = []
    for (const state of ['pending', 'used', 'settled']) {
      const key = await createKey({}, metadata)
      const token = await rotate(key)
      if (state !== 'pending') await use(token)
      if (state === 'settled') await change(key.name, labelled)
      made.push({ name: key.name, tokens: [key.token, token] })
    }
    return made
  }

  // threat: rotation-18
  test('is disabled with the key', async () => {
    for (const { name, tokens } of await keysInRotation()) {
      await change(name, specOf({ disabled: true }))
      expect(await states(...tokens)).toEqual(['access key is disabled', 'access key is disabled'])
      await change(name, specOf({ disabled: false }))
      expect(await states(...tokens)).not.toContain('access key is disabled')
    }
  })

  // threat: rotation-18
  test('is narrowed with the key', async () => {
    const scope = { clusters: [{ cluster: 'eu' }] }
    for (const { name, tokens } of await keysInRotation()) {
      await change(name, specOf({ scope }))
      for (const token of tokens) expect((await alive(token)).user.chain).toEqual([scope])
    }
  })

  // threat: rotation-18
  test('is being deleted with the key', async () => {
    for (const { name, tokens } of await keysInRotation({ finalizers: ['example.com/hold'] })) {
      await deleteObject(store, { namespace: '', name }, {}, contextAs(admin))
      expect(await states(...tokens)).toEqual(['access key is being deleted', 'access key is being deleted'])
      await change(name, (live) => ({ ...live, metadata: { ...live.metadata, finalizers: [] } }))
      expect(await states(...tokens)).toEqual(['unknown', 'unknown'])
    }
  })

  // threat: rotation-18
  test('is deleted with the key', async () => {
    for (const { name, tokens } of await keysInRotation()) {
      await deleteObject(store, { namespace: '', name }, {}, contextAs(admin))
      expect(await states(...tokens)).toEqual(['unknown', 'unknown'])
    }
  })

  test('keeps a sliding key alive', async () => {
    const key = await createKey({ ttl: 1000, ttlAfterLastActivity: true })
    const token = await rotate(key, 100_000)
    for (const [used, both] of [
      ...Array(3).fill([key.token, ['Current', 'Pending']]),
      ...Array(3).fill([token, ['Retiring', 'Current']]),
    ]) {
      ahead += 600
      await use(used)
      expect(await states(key.token, token)).toEqual(both)
    }
    await change(key.name, labelled)
    ahead += 900
    expect(await states(key.token, token)).toEqual(['Retiring', 'Current'])
    ahead += 101
    expect(await states(key.token, token)).toEqual(['access key has expired', 'access key has expired'])
  })
})

describe('the authorizer', () => {
  // threat: rotation-17
  test('records the first use, before the request is allowed', async () => {
    const key = await createKey()
    const token = await rotate(key)
    expect(await ask(token)).toMatchObject({ context: { user: expect.any(String) } })
    expect(await itemOf(token)).toMatchObject({ firstUsed: expect.any(Number) })
  })

  // threat: rotation-21
  test.each(['POST', 'PATCH', 'PUT', 'DELETE', 'GET'])(
    'records the first use by a dry run of %s',
    async (httpMethod) => {
      const key = await createKey()
      const token = await rotate(key)
      const { context } = await ask(token, { httpMethod, multiValueQueryStringParameters: { dryRun: ['All'] } })
      expect(context.user).toEqual(expect.any(String))
      expect(await states(key.token, token)).toEqual(['Retiring', 'Current'])
    },
  )

  // threat: rotation-12
  test('tells the handler when a retiring value ends', async () => {
    const key = await createKey()
    const token = await rotate(key, 60)
    await ask(token)
    const { firstUsed } = (await itemOf(token)) ?? {}
    const { context } = await ask(key.token)
    expect(decodeUser(context).user.credential?.until).toBe(Number(firstUsed) + 60)
  })

  // threat: rotation-17, rotation-20
  test('records no use that the scope does not allow', async () => {
    const key = await createKey({ scope: { clusters: [{ cluster: 'eu' }] } })
    const token = await rotate(key)
    expect((await ask(token)).context).toHaveProperty('forbidden')
    expect(await states(token)).toEqual(['Pending'])
  })

  // threat: rotation-17
  test('allows nothing when the use cannot be recorded', async () => {
    const key = await createKey()
    const token = await rotate(key)
    const { arrived, open } = gate.hold('transact')
    const answer = ask(token)
    await arrived
    await change(key.name, specOf({ disabled: true }))
    open()
    expect((await answer).context).toEqual({ unauthorized: 'access key is disabled', retryAfter: '1' })
    expect(await itemOf(token)).not.toHaveProperty('firstUsed')
  })

  // threat: events-3
  test('refuses a value that ended, and leaves one signal of it', async () => {
    const key = await createKey()
    const token = await rotate(key)
    await finish(key)
    for (let times = 0; times < 2; times++) {
      expect((await ask(token)).context).toEqual({ unauthorized: ROTATED, retryAfter: '1' })
    }
    const { items } = await server.storage.queryCompanions(signalPartition(Math.floor(Date.now() / 1000)))
    const found = items.map(({ attributes }) => readSignal(attributes)).filter(({ name }) => name === key.name)
    const [uid, at, userAgent] = [expect.any(String), expect.any(Number), expect.any(String)]
    expect(found).toEqual([{ kind: 'reused', name: key.name, uid, at, ip: '203.0.113.7', userAgent }])
  })
})

/** The cluster eu, with the right to review. */
const cluster = {
  ...admin,
  groups: ['system:authenticated'],
  chain: [{ roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] }],
  mayReview: true as const,
}
/** Presents a value as the cluster does. */
const review = (token: string, query = {}) =>
  functions.invoke('reviews/tokenreview', { user: cluster, query, body: { spec: { token } } })
const self = (accessKey: string, query = {}) =>
  functions.invoke('selves/create', { user: admin, query, body: { spec: { accessKey } } })

describe('a pending value', () => {
  // threat: rotation-21
  test('is used first by a TokenReview of a cluster, unless that is a dry run', async () => {
    const key = await createKey({ scope: { clusters: [{ cluster: 'eu' }] } })
    const token = await rotate(key, 0)
    const status = { authenticated: true, user: { username: 'alice' } }
    expect((await review(token, { dryRun: 'All' })).json.status).toMatchObject(status)
    expect(await states(key.token, token)).toEqual(['Current', 'Pending'])
    expect((await review(token)).json.status).toMatchObject(status)
    expect(await states(key.token, token)).toEqual([ROTATED, 'Current'])
    expect((await review(key.token)).json.status).toEqual({ user: {}, error: 'invalid bearer token' })
  })

  test('is not used by a Self that somebody asks for', async () => {
    const key = await createKey()
    const token = await rotate(key, 0)
    expect(await self(token)).toMatchObject({ status: 201, json: { status: { accessKey: key.name } } })
    expect(await states(key.token, token)).toEqual(['Current', 'Pending'])
  })
})

test('a TokenReview and a Self refuse a key that is limited to addresses', async () => {
  const key = await createKey({ scope: { clusters: [{ cluster: 'eu' }] } })
  await change(key.name, specOf({ sourceCIDRs: ['192.0.2.0/24'] }))
  expect((await review(key.token)).json.status).toEqual({ user: {}, error: 'invalid bearer token' })
  const why = expect.stringContaining('may not be used from')
  expect(await self(key.token)).toMatchObject({ status: 403, json: { message: why } })
  expect(Buffer.from((await ask(key.token)).context.forbidden, 'base64url').toString()).toEqual(why)
})

describe('a request in flight', () => {
  const createWith = (user: UserInfo, name: string) => call('create', { user, body: objectOf(accessKeys, { name }) })
  const patchWith = (user: UserInfo, name: string, body: object = { metadata: { labels: { at: String(++label) } } }) =>
    patch(name, 'merge', body, { user })
  const deleteWith = (user: UserInfo, name: string) => remove(name, { user })

  async function interrupt<T>(send: () => Promise<T>, meanwhile: () => Promise<unknown>): Promise<T> {
    const { arrived, open } = gate.hold('transact')
    const answer = send()
    await arrived
    await meanwhile()
    open()
    return answer
  }

  test('with a new value is unauthorized when the key is deleted before the first use is recorded', async () => {
    const key = await createKey()
    const token = await rotate(key)
    const removal = () => deleteObject(store, { namespace: '', name: key.name }, {}, contextAs(admin))
    await expect(interrupt(() => ask(token), removal)).rejects.toThrow(/^Unauthorized$/)
  })

  test('with a new value is refused when the key is disabled before the first use is recorded', async () => {
    const key = await createKey()
    const token = await rotate(key)
    const disable = () => change(key.name, (live) => ({ ...live, spec: { ...live.spec, disabled: true } }))
    const why = 'access key is disabled'
    expect((await interrupt(() => ask(token), disable)).context).toMatchObject({ unauthorized: why })
    const records = functions.get().log.map((line) => JSON.parse(line))
    const { uid } = (await rowOf(key.name)).object.metadata
    expect(records.filter(({ keyUid }) => keyUid === uid)).toEqual([
      expect.objectContaining({ decision: 'deny', reason: why, user: 'alice', key: key.name, authorization: 'dead' }),
    ])
  })

  // threat: rotation-16
  test.each([
    ['creates nothing', 0, 401],
    ['goes on', 60, 201],
  ])('with the old value %s when the new one is used, with an overlap of %i s', async (_, overlap, status) => {
    const key = await createKey()
    const token = await rotate(key, overlap)
    const user = await use(key.token)
    const send = () => createWith(user, `made-with-${key.name}`)
    expect((await interrupt(send, () => use(token))).status).toBe(status)
  })

  // threat: rotation-16
  test.each([
    ['creates nothing', 0, 401],
    ['goes on', 60, 201],
  ])('from before the rotation %s when the new value is used, with an overlap of %i s', async (_, overlap, status) => {
    const key = await createKey()
    const user = await use(key.token)
    const send = () => createWith(user, `made-before-${key.name}`)
    expect((await interrupt(send, async () => use(await rotate(key, overlap)))).status).toBe(status)
    // A change of the key keeps what the writes of the old value depend on.
    await change(key.name, labelled)
    expect((await createWith(user, `made-after-${key.name}`)).status).toBe(status)
  })

  test('from before the rotation changes nothing of its own key when the new value is used', async () => {
    const key = await createKey()
    const user = await use(key.token)
    const token = await rotate(key, 20)
    expect(
      (
        await interrupt(
          () => patchWith(user, key.name),
          () => use(token),
        )
      ).status,
    ).toBe(409)
    expect((await rowOf(key.name)).object.metadata.labels).toBeUndefined()
  })

  test('that reports the old value ends no more than it when the new one is used first', async () => {
    const key = await createKey()
    const token = await rotate(key, 60)
    const [hash] = await server.keys.hashes(key.token)
    let runs = 0
    await changeValues(key.name, async (settled) => {
      if (++runs === 1) await use(token)
      const change = hash && endLeaked(settled, hash, { at: seconds() })
      return change && { ...change, disables: change.internal.ended !== undefined }
    })
    expect(runs).toBe(2)
    expect(await states(key.token, token)).toEqual([LEAKED, 'Current'])
  })

  // threat: rotation-16
  test.each([
    ['patches', patchWith],
    ['deletes', deleteWith],
  ])('with the old value %s nothing of its own key when the new one is used', async (_, send) => {
    const key = await createKey()
    const token = await rotate(key, 0)
    const user = await use(key.token)
    const { status } = await interrupt(
      () => send(user, key.name),
      () => use(token),
    )
    expect([401, 409]).toContain(status)
    expect(await states(token)).toEqual(['Current'])
  })

  test.each(['a retiring', 'an ended'])('with %s value of a settled key', async (which) => {
    const key = await createKey()
    const token = await rotate(key, 60)
    const user = await use(key.token)
    await use(token)
    if (which === 'a retiring') await change(key.name, labelled)
    else await finish(key)
    expect((await patchWith(user, key.name)).status).toBe(which === 'a retiring' ? 200 : 409)
    expect((await createWith(user, `made-by-${key.name}`)).status).toBe(which === 'a retiring' ? 201 : 401)
  })

  test('with a retiring value cannot replace the new one', async () => {
    const key = await createKey()
    const token = await rotate(key, 60)
    const user = await use(key.token)
    await use(token)
    const body = { spec: { key: server.keys.generate() } }
    expect(await patchWith(user, key.name, body)).toMatchObject({
      status: 409,
      json: { message: expect.stringContaining('was rotated') },
    })
    expect(await states(key.token, token)).toEqual(['Retiring', 'Current'])
  })

  test('from before its key was disabled and enabled changes nothing of the key', async () => {
    const key = await createKey()
    const user = await use(key.token)
    await change(key.name, specOf({ disabled: true }))
    await change(key.name, specOf({ disabled: false }))
    expect((await patchWith(user, key.name)).status).toBe(409)
    expect((await patchWith(await use(key.token), key.name)).status).toBe(200)
  })

  test('that gives up an unused value loses against its first use', async () => {
    const key = await createKey()
    const token = await rotate(key, 60)
    let runs = 0
    const outcome = await changeValues(key.name, async (settled) => {
      if (++runs === 1) await use(token)
      return finishRotation(settled)
    })
    expect([runs, outcome.created]).toEqual([2, false])
    expect(await states(key.token, token)).toEqual([ROTATED, 'Current'])
  })

  // threat: rotation-22
  test('of a watch ends with the value that it came with', async () => {
    const key = await createKey()
    const token = await rotate(key, 5)
    const [old, next] = [await use(key.token), await use(token)]
    const context = (user: UserInfo) => contextOf(user)
    expect(await server.currentGeneration(context(old))).toBe(old.key.generation)
    await finish(key)
    expect(await server.currentGeneration(context(old))).toBeUndefined()
    expect(await server.currentGeneration(context(next))).toBe(next.key.generation)
    await change(key.name, specOf({ disabled: true }))
    expect(await server.currentGeneration(context(next))).toBeUndefined()
  })
})
