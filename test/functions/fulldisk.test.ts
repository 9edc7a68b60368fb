/** Tests requests while the store has no room: a write is a 507 and has no effect, the rest goes on, and nothing must be restarted. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Items, ItemsFault } from '../../lib/engine/storage/items.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { exchangeForm } from '../support/federation.ts'
import { type Invocation, type Json, useFunctions } from '../support/functions.ts'
import { makeIssuerKey, signIdToken } from '../support/issuerkey.ts'
import { accessKeys, callsOf, instances, objectOf, providers, refused, trusts } from './stored/fixtures.ts'

const functions = useFunctions()
const audience = 'https://keyplane.example.com/kubernetes/management'
const { make, patch, read } = callsOf(functions, accessKeys)

const issuer = makeIssuerKey('ES256', 'a')
let isFull = false
const writes: readonly PropertyKey[] = ['write', 'allocate', 'transact']
const refuse = async () => {
  throw new ItemsFault('full', new Error('database or disk is full'))
}
beforeAll(async () => {
  functions.get().store.around = (items: Items) =>
    new Proxy(items, {
      get: (target, name: keyof Items) => (isFull && writes.includes(name) ? refuse : target[name]),
    })
  await callsOf(functions, providers).make(
    { name: 'github' },
    { ...providers.spec, jwks: JSON.stringify({ keys: [issuer.jwk] }) },
  )
})
beforeEach(() => {
  isFull = false
})

const full = 'the disk of the server is full'
const notMade = `${full}: the write was not made`
const noRoom = refused(507, 'InsufficientStorage', notMade)

describe.each([accessKeys, instances, providers, trusts])('$plural', (stored) => {
  const calls = callsOf(functions, stored)
  const name = `full-${stored.plural}`
  const { parameters } = stored
  const create = { parameters, body: objectOf(stored, { name: 'new' }) }

  test('are read and not written, until there is room', async () => {
    await calls.make({ name })
    const before = await calls.read(name)
    const changed = { ...before, spec: stored.changed }
    const applied = objectOf(stored, { name }, stored.changed)
    isFull = true
    const answers = {
      create: await calls.call('create', create),
      update: await calls.put(name, changed),
      patch: await calls.patch(name, 'merge', { spec: stored.changed }),
      apply: await calls.patch(name, 'apply', applied, { query: { fieldManager: 'test', force: 'true' } }),
      delete: await calls.remove(name),
      deletecollection: await calls.call('deletecollection', { parameters, body: null }),
      watch: await calls.call('list', { parameters, query: { watch: 'true', timeoutSeconds: '1' } }),
    }
    for (const [verb, answer] of Object.entries(answers)) {
      expect([verb, answer]).toEqual([verb, expect.objectContaining(noRoom)])
      // Clients would wait for what somebody must do first.
      expect(answer.headers).not.toHaveProperty('Retry-After')
    }
    expect(await calls.read(name)).toEqual(before)
    expect(await calls.call('list', { parameters })).toMatchObject({ status: 200 })
    expect(await calls.call('create', { ...create, query: { dryRun: 'All' } })).toMatchObject({ status: 201 })
    isFull = false
    expect(await calls.put(name, changed)).toMatchObject({ status: 200 })
    const { json } = await calls.call('list', { parameters })
    expect(json.items.map(({ metadata }: Json) => metadata.name)).toContain(name)
    expect(await calls.remove(name)).toMatchObject({ status: 200 })
  })
})

/** Makes a key and returns its value. */
const newKey = async (name: string): Promise<string> => (await make({ name })).spec.key

test('a rotation and a report of a leak are refused, and a revocation names what it could not do', async () => {
  const token = await newKey('actions')
  isFull = true
  const rotate = () => functions.invoke('ownedaccesskeys/rotate', { parameters: { name: 'actions' } })
  const report = () => functions.invoke('leaks', { body: { credentials: [token] } })
  const revoke = () =>
    functions.invoke('accesskeyrevocations/create', {
      body: objectOf({ kind: 'AccessKeyRevocation', spec: { names: ['actions'] } }, {}),
    })
  expect([await rotate(), await report()]).toMatchObject([noRoom, noRoom])
  const { matched, done, failures } = (await revoke()).json.status
  expect([matched, done, failures]).toMatchObject([1, 0, [{ name: 'actions', code: 507, message: notMade }]])
  isFull = false
  expect([(await rotate()).status, (await report()).status]).toEqual([201, 202])
  expect((await read('actions')).spec.disabled).toBe(true)
})

test('an exchange is refused, and its ID token can be exchanged once there is room', async () => {
  const { metadata } = await callsOf(functions, trusts).make(
    { name: 'exchanged' },
    { ...trusts.spec, scope: { roles: [] } },
  )
  const iat = Math.floor(Date.now() / 1000)
  const claims = { repository_id: '1', environment: 'production' }
  const iss = providers.spec.issuer
  const token = signIdToken({ iss, aud: audience, sub: 'job', jti: 'a', iat, exp: iat + 600, ...claims }, issuer)
  const exchange = () => functions.invoke('oauth2/token', { body: exchangeForm(`exchanged@${metadata.uid}`, token) })
  isFull = true
  const { status, json } = await exchange()
  expect([status, json]).toEqual([503, { error: 'temporarily_unavailable', error_description: notMade }])
  isFull = false
  expect((await exchange()).status).toBe(200)
})

const authorize = async (token: string): Promise<Json> => {
  const headers = { Authorization: [`Bearer ${token}`] }
  const { context } = await functions.run('authorizer', (event: Json) => ({
    ...event,
    multiValueHeaders: { ...event.multiValueHeaders, ...headers },
  }))
  return context
}
const itemOf = async (token: string) => {
  const { hashes, storage } = functions.get().parts
  const [hash] = await hashes(token)
  const { pk, sk } = credentialItemKey(hash ?? { version: '', hash: '' })
  return (await getCompanion(storage, { pk, sk }))?.attributes
}

describe('the authorizer', () => {
  test('allows what it cannot record, and records the next use once there is room', async () => {
    const token = await newKey('used')
    isFull = true
    expect(await authorize(token)).toMatchObject({ user: expect.any(String) })
    expect(await itemOf(token)).not.toHaveProperty('lastActivity')
    const messages = functions.get().log.map((line) => JSON.parse(line).message)
    expect(messages).toEqual(expect.arrayContaining(['last activity not written', 'usage not recorded']))
    isFull = false
    await authorize(token)
    expect(await itemOf(token)).toHaveProperty('lastActivity')
  })

  test('refuses the first use of a pending value, which ends another one', async () => {
    await make({ name: 'rotated' })
    const { json } = await functions.invoke('ownedaccesskeys/rotate', { parameters: { name: 'rotated' }, body: {} })
    const token = json.status.key
    isFull = true
    const authorizer = await authorize(token)
    const get: Invocation = { authorizer, parameters: { name: 'rotated' }, headers: { accept: 'application/json' } }
    expect(await functions.invoke('ownedaccesskeys/get', get)).toMatchObject(
      refused(507, 'InsufficientStorage', `${full}: the first use of the access key was not recorded`),
    )
    expect(await itemOf(token)).not.toHaveProperty('firstUsed')
    isFull = false
    expect(await authorize(token)).toMatchObject({ user: expect.any(String) })
  })
})

test('what runs on a schedule goes on once there is room, and publishes what happened before', async () => {
  await functions.run('lifecycle')
  await newKey('scheduled')
  await patch('scheduled', 'merge', { spec: { disabled: true } })
  isFull = true
  for (const name of ['settle', 'lifecycle']) await expect(functions.run(name)).rejects.toThrow('the store has no room')
  isFull = false
  await functions.run('settle')
  await functions.run('lifecycle')
  const { json } = await functions.invoke('ownedaccesskeys/history', { parameters: { name: 'scheduled' } })
  expect(json.status.events.map(({ type }: Json) => type).sort()).toEqual(['created', 'revoked'])
})
