/** Tests that a write with a key that is revoked meanwhile has no effect. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { deleteObject } from '../../lib/engine/registry/delete.ts'
import type { Store } from '../../lib/engine/registry/store.ts'
import { updateObject } from '../../lib/engine/registry/update.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { accessKeys, callsOf, objectOf } from '../functions/stored/fixtures.ts'
import { useFunctions } from '../support/functions.ts'
import { makeGate } from '../support/gate.ts'
import type { Answer } from '../support/request.ts'
import { admin, contextOf } from '../support/users.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)

const gate = makeGate()
/** The administrator's connection to the table, without the gate. */
let store: Store
beforeAll(async () => {
  const { parts, store: table } = functions.get()
  store = parts.storeOf(OwnedAccessKey)
  await parts.storage.get(OwnedAccessKey.table, 'none')
  table.around = gate.around
})

let count = 0
/** Creates a key of alice and returns her as the authorizer describes the bearer of that key. */
async function createBearer(): Promise<{ name: string; user: UserInfo; touch(): Promise<unknown> }> {
  const name = `maker-${++count}`
  const { spec } = await make({ name }, { user: 'alice' })
  const { parts } = functions.get()
  const result = await parts.authenticate(spec.key)
  if (!('user' in result)) throw new Error('the key gives no access')
  const touch = () => parts.admit(result, { isRecorded: true }, 'self')
  return { name, user: { ...result.user, credential: result.credential }, touch }
}

const change = (name: string, spec: object, secrets: { path: string[]; value: string }[] = []) =>
  updateObject(
    store,
    {
      namespace: '',
      name,
      subresource: '',
      verb: 'patch',
      transform: (live) => ({ object: { ...live, spec: { ...live.spec, ...spec } }, secrets }),
    },
    contextOf(admin),
  )
const revocations: Record<string, (name: string) => Promise<unknown>> = {
  deleted: (name) => deleteObject(store, { namespace: '', name }, {}, contextOf(admin)),
  disabled: (name) => change(name, { disabled: true }),
  rotated: (name) => change(name, {}, [{ path: ['spec', 'key'], value: `another-value-of-${name}`.padEnd(40, '.') }]),
  narrowed: (name) => change(name, { scope: {} }),
}

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
type Write = (user: UserInfo, name: string) => Promise<Answer>
const applyDescription: Write = (user, name) =>
  call('patch', {
    user,
    parameters: { name },
    query: { fieldManager: 'tester' },
    headers: apply,
    body: objectOf(accessKeys, { name }, { description: 'changed' }),
  })
const creations: Record<string, Write> = {
  create: (user, name) => call('create', { user, body: objectOf(accessKeys, { name }) }),
  'an apply that creates': applyDescription,
}
const changes: Record<string, Write> = {
  update: async (user, name) => {
    const object = await read(name)
    const body = { ...object, spec: { ...object.spec, description: 'changed' } }
    return call('update', { user, parameters: { name }, body })
  },
  patch: (user, name) =>
    call('patch', { user, parameters: { name }, headers: merge, body: { spec: { description: 'changed' } } }),
  'an apply': applyDescription,
  'a rotation': (user, name) =>
    call('patch', {
      user,
      parameters: { name },
      headers: merge,
      body: { spec: { key: `value-of-${name}`.padEnd(40, '.'), description: 'changed' } },
    }),
  delete: (user, name) => call('delete', { user, parameters: { name } }),
}

/** Sends a write, holds its transaction, and releases it when `meanwhile` has finished. */
async function interrupt(send: () => Promise<Answer>, meanwhile: () => Promise<unknown>): Promise<Answer> {
  const { arrived, open } = gate.hold('transact')
  const answer = send()
  await arrived
  await meanwhile()
  open()
  return answer
}

const refusal = {
  status: 401,
  json: { reason: 'Unauthorized', message: 'access key has been changed or deleted since the request was allowed' },
}

describe.each(Object.keys(revocations))('a key that is %s while a request uses it', (revoked) => {
  const revoke = (name: string) => revocations[revoked]?.(name) ?? Promise.reject(new Error(revoked))

  // threat: use-7
  test.each(Object.keys(creations))('creates nothing by %s', async (write) => {
    const { name, user } = await createBearer()
    const answer = await interrupt(
      () => creations[write]?.(user, `made-with-${name}`) as Promise<Answer>,
      () => revoke(name),
    )
    expect(answer).toMatchObject(refusal)
    expect(await read(`made-with-${name}`)).toMatchObject({ code: 404 })
  })

  // threat: use-5, use-7
  test.each(Object.keys(changes))('changes nothing by %s', async (write) => {
    const { name, user } = await createBearer()
    await make({ name: `other-than-${name}` }, { user: 'alice' })
    const before = await read(`other-than-${name}`)
    const answer = await interrupt(
      () => changes[write]?.(user, `other-than-${name}`) as Promise<Answer>,
      () => revoke(name),
    )
    expect(answer).toMatchObject(refusal)
    expect(await read(`other-than-${name}`)).toEqual(before)
  })
})

// threat: use-7
test('the value of a deleted key cannot create another key with the same value', async () => {
  const value = 'the-value-of-the-key-of-the-request'
  const { metadata } = await make({ name: 'first-of-the-value' }, { user: 'alice', key: value })
  const result = await functions.get().parts.authenticate(value)
  if (!('user' in result)) throw new Error('the key gives no access')
  const user = { ...result.user, credential: result.credential }
  await revocations.deleted?.(metadata.name)
  const body = objectOf(accessKeys, { name: 'second-of-the-value' }, { user: 'alice', key: value })
  expect(await call('create', { user, body })).toMatchObject(refusal)
})

test('recording a use of the key does not count as a change', async () => {
  const { name, user, touch } = await createBearer()
  const { status } = await interrupt(() => creations.create?.(user, `made-with-${name}`) as Promise<Answer>, touch)
  expect(status).toBe(201)
  expect((await read(name)).status.lastActivity).toBeDefined()
})

test('a key can change and delete itself', async () => {
  const { name, user } = await createBearer()
  expect((await changes.patch?.(user, name))?.status).toBe(200)
  const now = { ...user, key: { ...user.key, generation: 2 } }
  expect((await changes.delete?.(now, name))?.status).toBe(200)
})

// An authorizer of the previous version passes no credential.
test('a request without a credential is not conditional', async () => {
  const { user } = await createBearer()
  const { credential: _, ...before } = user
  expect((await creations.create?.(before, 'made-without'))?.status).toBe(201)
})
