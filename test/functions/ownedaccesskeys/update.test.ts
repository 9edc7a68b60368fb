import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { admin, alice, scoped } from '../../support/users.ts'
import { accessKeys, callsOf, objectOf, status } from '../stored/fixtures.ts'
import { describeUpdate } from '../stored/update.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)

/** PUT of what is there with `spec` over its spec. */
async function put(name: string, spec: object, user = alice) {
  const before = await read(name)
  return call('update', { parameters: { name }, user, body: { ...before, spec: { ...before.spec, ...spec } } })
}

describeUpdate(functions, accessKeys)

describe('200', () => {
  // Clients put back what they read, without the key; it must go on working.
  test('without spec.key the key stays', async () => {
    await make({ name: 'kept' }, { user: 'alice', key: 'the-key-that-stays-0123456789-0123' })
    const { json } = await put('kept', { displayName: 'new' })
    expect(json.spec).toEqual({ user: 'alice', displayName: 'new' })
    const same = await put('kept', { key: 'the-key-that-stays-0123456789-0123' })
    expect(same.json.metadata.resourceVersion).toBe(json.metadata.resourceVersion)
  })

  // Another value of the key is a change of the desired state, though nobody sees it.
  test('another spec.key is a new generation', async () => {
    await make({ name: 'rotated' })
    const { json, text } = await put('rotated', { key: 'the-key-that-comes-0123456789-0123' })
    expect(json.metadata.generation).toBe(2)
    expect(text).not.toContain('the-key-that-comes')
  })
})

describe('200 of status', () => {
  // What is computed on reads is nobody's to write: a dead key must not look alive.
  test('owner, phase and expirationTimestamp are not taken', async () => {
    await make({ name: 'computed' }, { user: 'alice', disabled: true })
    const before = await read('computed')
    const status = { owner: 'bob', phase: 'Active', expirationTimestamp: '2099-01-01T00:00:00Z' }
    const { json } = await call('update', {
      parameters: { name: 'computed' },
      subresource: 'status',
      body: { ...before, status },
    })
    expect(json.status).toEqual({ owner: 'alice', phase: 'Disabled' })
    expect((await read('computed')).status).toEqual({ owner: 'alice', phase: 'Disabled' })
  })
})

describe('403', () => {
  // What a key may was judged for its maker; a change must not add to it.
  test.each([{ user: 'bob' }, { groups: ['system:masters'] }, { team: 'ops' }, { subject: 'x' }, { type: 'Login' }])(
    'the owner may not change %j',
    async (spec) => {
      await call('create', { body: objectOf(accessKeys, { name: 'owned' }) })
      const { status: code, json } = await put('owned', spec)
      expect([code, json]).toEqual([403, status(403, 'Forbidden', expect.stringContaining('only system:masters'))])
    },
  )

  // Whoever may rotate a key gets what it gives: one with more groups than the caller is not theirs to rotate.
  test('rotating a key that has more groups than its owner', async () => {
    await make({ name: 'grand' }, { user: 'alice', groups: ['ops'] })
    const { status: code } = await put('grand', { key: 'a-value-of-my-choice-0123456789-0' })
    expect(code).toBe(403)
  })

  // A scope that could be taken off by its holder would be none.
  test('a scoped caller may not change a key without that scope', async () => {
    await make({ name: 'free' })
    const narrow = scoped(alice, { rules: [{}] })
    const { status: code, json } = await put('free', { displayName: 'x' }, narrow)
    expect(code).toBe(403)
    expect(json.message).toContain('the access key used has a scope that this access key does not inherit')
  })

  // The status tells what happened; its subject does not write it.
  test('status is written by administrators only', async () => {
    await make({ name: 'status' })
    const body = { ...(await read('status')), status: { lastActivity: '2026-01-01T00:00:00Z' } }
    const write = (user: typeof alice) =>
      call('update', { parameters: { name: 'status' }, subresource: 'status', user, body })
    expect((await write(alice)).status).toBe(403)
    expect((await write(admin)).json.status.lastActivity).toBe('2026-01-01T00:00:00Z')
  })
})

describe('422', () => {
  test('the key of another object', async () => {
    await make({ name: 'one' }, { user: 'alice', key: 'a-key-of-one-object-0123456789-01' })
    await make({ name: 'two' })
    const { status: code, json, text } = await put('two', { key: 'a-key-of-one-object-0123456789-01' })
    expect([code, json.details.causes[0]]).toEqual([
      422,
      { reason: 'FieldValueDuplicate', message: 'Duplicate value: <redacted>', field: 'spec.key' },
    ])
    expect(text).not.toContain('a-key-of-one-object')
  })
})
