import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { alice, bob, userNamed } from '../../support/users.ts'
import { callsOf, instances, status } from '../stored/fixtures.ts'
import { describeUpdate } from '../stored/update.ts'

const functions = useFunctions()
const { at, call, make, read } = callsOf(functions, instances)

describeUpdate(functions, instances)

describe('403', () => {
  // Users of an instance cannot change its access rules or the location of its credentials.
  test.each([
    { owner: { user: 'bob' } },
    { access: [{ verbs: ['*'], users: ['bob'] }] },
    { accessPoint: { ingress: { host: 'evil.example.com' } } },
    { certificateAuthorityData: 'AAAA' },
    { credentialsSecretRef: { secretName: 'other' } },
  ])('for a change of %j by the owner', async (change) => {
    await call('create', { parameters: at(''), body: { ...body('owned'), spec: instances.spec } })
    const before = await read('owned')
    const put = (spec: object) =>
      call('update', { parameters: at('owned'), user: alice, body: { ...before, spec: { ...before.spec, ...spec } } })
    const { status: code, json } = await put(change)
    expect([code, json]).toEqual([403, status(403, 'Forbidden', expect.stringContaining(Object.keys(change)[0] ?? ''))])
  })

  // Users who may read get a reason. For all others the object does not exist.
  test('for a user who may only read', async () => {
    const access = [{ verbs: ['get'], users: ['bob'] }]
    await make({ name: 'shared' }, { access })
    const before = await read('shared', bob)
    const put = (user: typeof bob) => call('update', { parameters: at('shared'), user, body: before })
    expect((await put(bob)).status).toBe(403)
    expect((await put(userNamed('carol'))).status).toBe(404)
  })
})

describe('200', () => {
  test('allows the owner to change all other fields', async () => {
    await make({ name: 'renamed' })
    const before = await read('renamed')
    const changed = { ...before, spec: { ...before.spec, displayName: 'New' } }
    const { status: code, json } = await call('update', { parameters: at('renamed'), user: alice, body: changed })
    expect([code, json.spec.displayName]).toEqual([200, 'New'])
  })
})

const body = (name: string) => ({
  apiVersion: 'management.platform/v1',
  kind: 'VirtualClusterInstance',
  metadata: { name },
})
