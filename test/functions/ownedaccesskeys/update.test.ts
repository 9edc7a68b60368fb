import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { admin, alice, withScopes } from '../../support/users.ts'
import { accessKeys, callsOf, objectOf, status } from '../stored/fixtures.ts'
import { describeUpdate } from '../stored/update.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)

/** Updates the stored object with `spec` merged into its spec. */
async function put(name: string, spec: object, user = alice) {
  const before = await read(name)
  return call('update', { parameters: { name }, user, body: { ...before, spec: { ...before.spec, ...spec } } })
}

describeUpdate(functions, accessKeys)

describe('200', () => {
  // Clients write back what they read, without the key, which must continue to work.
  test('keeps the key without spec.key', async () => {
    await make({ name: 'kept' }, { user: 'alice', key: 'the-key-that-stays-0123456789-0123' })
    const { json } = await put('kept', { displayName: 'new' })
    expect(json.spec).toEqual({ user: 'alice', displayName: 'new' })
    const same = await put('kept', { key: 'the-key-that-stays-0123456789-0123' })
    expect(same.json.metadata.resourceVersion).toBe(json.metadata.resourceVersion)
  })

  // Another key is a change of the desired state, although it is hidden.
  test('increases the generation for another spec.key', async () => {
    await make({ name: 'rotated' })
    const { json, text } = await put('rotated', { key: 'the-key-that-comes-0123456789-0123' })
    expect(json.metadata.generation).toBe(2)
    expect(text).not.toContain('the-key-that-comes')
  })
})

describe('200 of status', () => {
  // Nobody can write computed fields: an invalid key must not look valid.
  test('ignores owner, phase and expirationTimestamp', async () => {
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
  // The permissions of a key were authorized for its creator. A change must not add any.
  test.each([{ user: 'bob' }, { groups: ['system:masters'] }, { team: 'ops' }, { subject: 'x' }, { type: 'Login' }])(
    'for a change of %j by the owner',
    async (spec) => {
      await call('create', { body: objectOf(accessKeys, { name: 'owned' }) })
      const { status: code, json } = await put('owned', spec)
      expect([code, json]).toEqual([403, status(403, 'Forbidden', expect.stringContaining('only system:masters'))])
    },
  )

  // Rotating a key grants its permissions, so callers cannot rotate a key with more groups than they have.
  test('for rotating a key that has more groups than its owner', async () => {
    await make({ name: 'grand' }, { user: 'alice', groups: ['ops'] })
    const { status: code } = await put('grand', { key: 'a-value-of-my-choice-0123456789-0' })
    expect(code).toBe(403)
  })

  // A scope that its holder could remove would not restrict.
  test('for a scoped caller that changes a key without that scope', async () => {
    await make({ name: 'free' })
    const narrow = withScopes(alice, { rules: [{}] })
    const { status: code, json } = await put('free', { displayName: 'x' }, narrow)
    expect(code).toBe(403)
    expect(json.message).toContain('the access key used has a scope that this access key does not inherit')
  })

  // Users cannot write the status, which reports what happened.
  test('for a status update by a user who is not an administrator', async () => {
    await make({ name: 'status' })
    const body = { ...(await read('status')), status: { lastActivity: '2026-01-01T00:00:00Z' } }
    const write = (user: typeof alice) =>
      call('update', { parameters: { name: 'status' }, subresource: 'status', user, body })
    expect((await write(alice)).status).toBe(403)
    expect((await write(admin)).json.status.lastActivity).toBe('2026-01-01T00:00:00Z')
  })
})

describe('422', () => {
  test('for the key of another object', async () => {
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
