import { expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { admin, alice } from '../../support/users.ts'
import { accessKeys, callsOf } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)

// Nobody can write computed fields: an invalid key must not look valid.
// threat: users-22
test('ignores owner, phase and expirationTimestamp', async () => {
  await make({ name: 'computed' }, { user: 'alice', disabled: true })
  const before = await read('computed')
  const status = { owner: 'bob', phase: 'Active', expirationTimestamp: '2099-01-01T00:00:00Z' }
  const { json } = await call('update', {
    parameters: { name: 'computed' },
    subresource: 'status',
    body: { ...before, status },
  })
  const { hint } = before.status
  expect(json.status).toEqual({ owner: 'alice', phase: 'Disabled', hint })
  expect((await read('computed')).status).toEqual({ owner: 'alice', phase: 'Disabled', hint })
})

// Users cannot write the status, which reports what happened.
test('403 for a status update by a user who is not an administrator', async () => {
  await make({ name: 'status' })
  const body = { ...(await read('status')), status: { lastActivity: '2026-01-01T00:00:00Z' } }
  const write = (user: typeof alice) =>
    call('update', { parameters: { name: 'status' }, subresource: 'status', user, body })
  expect((await write(alice)).status).toBe(403)
  expect((await write(admin)).json.status.lastActivity).toBe('2026-01-01T00:00:00Z')
})
