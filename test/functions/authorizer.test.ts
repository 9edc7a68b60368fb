/** Tests the authorizer with its event: which requests it allows, with which context, and how it rejects the others. */
import { describe, expect, test } from 'vitest'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { decodeUser } from '../../lib/keys/requests/usercontext.ts'
import { endless } from '../support/deadlines.ts'
import { type Json, useFunctions } from '../support/functions.ts'
import { accessKeys, callsOf } from './stored/fixtures.ts'

const functions = useFunctions()
const { make, read, patch, remove } = callsOf(functions, accessKeys)

/** Asks for GET ownedaccesskeys/ci, or what `more` says, with this value of the header. */
const ask = (authorization: string | string[], more: object = {}) =>
  functions.run('authorizer', (event: Json) => {
    const values = [authorization].flat()
    return {
      ...event,
      ...more,
      headers: { ...event.headers, Authorization: values.at(-1) },
      multiValueHeaders: { ...event.multiValueHeaders, Authorization: values },
    }
  })
const bearer = (key: string) => `Bearer ${key}`
const keyOf = async (name: string, spec: object = {}): Promise<string> =>
  (await make({ name }, { user: 'alice', ...spec })).spec.key

describe('Allow', () => {
  // Handlers get the user only from this context.
  test('passes on the user, groups and scopes of a valid key', async () => {
    const scope = { rules: [{}] }
    const key = await keyOf('living', { groups: ['dev'], team: 'ops', type: 'User', scope })
    const result = await ask(bearer(key))
    const { uid } = (await read('living')).metadata
    expect(result).toEqual({
      principalId: 'alice',
      policyDocument: {
        Version: '2012-10-17',
        Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: '*' }],
      },
      context: {
        user: expect.any(String),
        credential: expect.any(String),
        makers: expect.any(String),
        reason: 'spec.scope.rules[0]',
        retryAfter: '1',
      },
    })
    const { credential, ...user } = decodeUser(result.context).user
    const { hash = '', version = '', created } = credential ?? {}
    expect(await functions.get().parts.keys.readCredential({ hash, version })).toMatchObject({
      name: 'living',
      created,
    })
    expect(user).toEqual({
      name: 'alice',
      identity: 'user:alice',
      groups: ['dev', 'system:authenticated', 'team:ops'],
      key: { name: 'living', uid, generation: 1, type: 'User', user: 'alice', team: 'ops' },
      makers: ['uid-of-admin'],
      chain: [scope],
    })
  })

  test('updates the last activity without changing the object', async () => {
    const key = await keyOf('active')
    const before = await read('active')
    expect(before.status).not.toHaveProperty('lastActivity')
    await ask(bearer(key))
    const after = await read('active')
    expect(after.status.lastActivity).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(after.metadata).toEqual(before.metadata)
  })

  // A known but invalid key passes without a user, and the handler explains why.
  test.each([
    { name: 'disabled', spec: { disabled: true }, why: 'access key is disabled' },
    { name: 'deleting', spec: {}, metadata: { finalizers: ['example.com/hold'] }, why: 'access key is being deleted' },
  ])('passes on no user for a key that is $name', async ({ name, spec, metadata, why }) => {
    const made = await make({ name, ...metadata }, { user: 'alice', ...spec })
    if (metadata) await remove(name)
    const { context } = await ask(bearer(made.spec.key))
    expect(context).toEqual({ unauthorized: why, retryAfter: '1' })
  })

  // The path comes from the routing of the gateway. The handler answers an ambiguous path with 400.
  // threat: authorizer-4
  test.each(['a/b', '..', 'a%2Fb'])('passes on no user for the ambiguous name %s', async (name) => {
    const key = await keyOf(`path-${Buffer.from(name).toString('hex')}`)
    const { context } = await ask(bearer(key), { pathParameters: { name } })
    expect(context).toEqual({ badRequest: expect.stringContaining('parameter invalid'), retryAfter: '1' })
  })
})

// The handler answers it: API Gateway documents no way to insert a Status of ours into its own response.
// threat: use-9
test('rejects a request outside the scope', async () => {
  const key = await keyOf('narrow', { scope: { projects: [{ project: 'web' }] } })
  const { context } = await ask(bearer(key))
  expect(Object.keys(context).sort()).toEqual(['forbidden', 'retryAfter'])
  const status = JSON.parse(Buffer.from(context.forbidden, 'base64url').toString())
  expect(status).toMatchObject({ kind: 'Status', code: 403, reason: 'Forbidden' })
  expect(status.message).toMatch(
    /User "alice" cannot get resource "ownedaccesskeys" in API group "management.platform" at the cluster scope: spec.scope does not allow get of ownedaccesskeys "[^"]+"$/,
  )
  const [{ message, ...cause }] = status.details.causes
  expect(cause).toEqual({ reason: 'ScopeMissing', field: 'spec.scope' })
  expect(message).toMatch(/^\{"rules":.*\} would allow it$/)
  expect((await read('narrow')).status).not.toHaveProperty('lastActivity')
})

// The handler says what is missing. The message reveals nothing about stored keys.
describe('Allow without a user, with advice', () => {
  const missing = {
    unauthorized: expect.stringMatching(/^Unauthorized: the request has no bearer token: send an access key /),
    retryAfter: '1',
  }
  const none = {
    unauthorized: expect.stringMatching(/^Unauthorized: the bearer token is not an access key/),
    retryAfter: '1',
  }

  test.each([
    { what: 'no token', value: () => '', told: missing },
    { what: 'another scheme', value: async () => `Basic ${await keyOf('basic')}`, told: missing },
    { what: 'a known key and more', value: async () => `${bearer(await keyOf('more'))} more`, told: missing },
    { what: 'two headers', value: async () => [bearer(await keyOf('twice')), bearer('other')], told: missing },
    { what: 'a wrong checksum', value: () => bearer(`mpk_${'0'.repeat(49)}`), told: none },
    { what: 'half a key', value: async () => bearer((await keyOf('half')).slice(0, 40)), told: none },
    { what: 'a token of somebody else', value: () => bearer(`eyJ${'a'.repeat(40)}.e30.c2ln`), told: none },
  ])('for $what', async ({ value, told }) => expect((await ask(await value())).context).toEqual(told))

  // threat: gateway-4
  test('for two headers in different case', async () => {
    const key = await keyOf('cases')
    const multiValueHeaders = { Authorization: [bearer(key)], authorization: [bearer('other')] }
    const { context } = await functions.run('authorizer', (event: Json) => ({ ...event, multiValueHeaders }))
    expect(context).toEqual(missing)
  })
})

describe('Unauthorized', () => {
  test.each([
    { what: 'an unknown key', value: () => bearer('mpk_000000000000000000000000000000000000000000034O1xt') },
    { what: 'an unknown key in another format', value: () => bearer('x'.repeat(40)) },
  ])('for $what', ({ value }) => expect(ask(value())).rejects.toThrow(/^Unauthorized$/))

  // A key becomes invalid with its object, at the next request.
  // threat: gateway-3, use-1
  test('for a deleted key', async () => {
    const key = await keyOf('deleted')
    await ask(bearer(key))
    await remove('deleted')
    await expect(ask(bearer(key))).rejects.toThrow(/^Unauthorized$/)
  })

  // threat: use-1
  test('for the old value of a rotated key, but not for the new one', async () => {
    const key = await keyOf('rotated')
    const next = 'the-value-after-rotation-0123456789'
    await patch('rotated', 'merge', { spec: { key: next } })
    await expect(ask(bearer(key))).rejects.toThrow(/^Unauthorized$/)
    expect((await ask(bearer(next))).context).toHaveProperty('user')
  })
})

// It fails closed and leaves a record.
// threat: authorizer-6, logs-5
test('fails for a credential that it cannot read, with an audit record', async () => {
  const key = await keyOf('unreadable')
  const { parts, store, log } = functions.get()
  const [hash = { version: '', hash: '' }] = await parts.hashes(key)
  const attributes = { chain: 'none' }
  await store.items().transact([{ type: 'set', key: credentialItemKey(hash), attributes }], endless())
  await expect(ask(bearer(key))).rejects.not.toThrow(/^Unauthorized$/)
  const record = { message: 'audit', decision: 'deny', reason: 'the authorizer failed', code: 503 }
  expect(log.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining(record))
})

// client-go repeats a request of any method that gets a 5xx with Retry-After, and a failed function may have written.
test.each([
  { methods: ['GET', 'HEAD'], retryAfter: '1' },
  { methods: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get'], retryAfter: undefined },
])('the gateway tells clients of $methods to retry after: $retryAfter', async ({ methods, retryAfter }) => {
  const key = await keyOf(`retrying-${methods.length}`)
  for (const httpMethod of methods) {
    const { context } = await ask(bearer(key), { httpMethod })
    expect([httpMethod, context.retryAfter]).toEqual([httpMethod, retryAfter])
  }
})
