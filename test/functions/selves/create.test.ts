import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { accessKey } from '../../support/objects.ts'
import { admin, alice, userNamed, withScopes } from '../../support/users.ts'
import { describeVirtual } from '../virtual/create.ts'

const ROLE = 'arn:aws:iam::123456789012:role/keyplane-test-clusters'
const functions = useFunctions({ CLUSTERS_ROLE_ARN: ROLE })
const ask = async (user: typeof alice) =>
  (await functions.invoke('selves/create', { user, headers: { accept: 'application/json' } })).json.status

const createKey = async (name: string, spec: object = {}): Promise<string> =>
  (await functions.invoke('ownedaccesskeys/create', { body: accessKey(name, { user: 'alice', ...spec }) })).json.spec
    .key
const askOf = (given: string, query: Record<string, string> = {}) =>
  functions.invoke('selves/create', { user: alice, query, body: { spec: { accessKey: given } } })
const lastActivityOf = async (name: string) =>
  (await functions.invoke('ownedaccesskeys/get', { parameters: { name } })).json.status.lastActivity

describeVirtual(functions, { name: 'selves/create', apiVersion: 'management.platform/v1', kind: 'Self', spec: {} })

describe('201', () => {
  // Existing clients read these fields.
  test('returns a user', async () =>
    expect(await ask(alice)).toEqual({
      user: { name: 'alice', username: 'alice', displayName: 'alice', subject: 'alice' },
      subject: 'alice',
      uid: 'uid-of-alice',
      groups: ['system:authenticated'],
      accessKey: 'key-of-alice',
      accessKeyType: 'User',
      run: expect.stringMatching(/^key /),
      projectNamespacePrefix: 'p-',
    }))

  test('returns a subject, whose name differs from that of a user', async () => {
    const name = 'subject:alice'
    expect(await ask({ ...userNamed(name), identity: name })).toMatchObject({
      user: { name, username: name, displayName: 'alice', subject: name },
      subject: name,
    })
  })

  test.each([
    { who: 'administrators', user: admin, arn: ROLE },
    { who: 'administrators with a scope', user: withScopes(admin, { rules: [{}] }), arn: undefined },
    { who: 'others', user: alice, arn: undefined },
  ])('says to $who which role of AWS reaches clusters: $arn', async ({ user, arn }) =>
    expect((await ask(user)).clustersRoleARN).toBe(arn),
  )

  // threat: authorizer-1
  test('returns the access key in spec, not the one of the request', async () => {
    const scope = { projects: [{ project: 'web' }] }
    const given = await createKey('given', { user: 'bob', scope })
    const { status, json, text } = await askOf(given)
    expect([status, json.spec]).toEqual([201, {}])
    expect(json.status).toMatchObject({ subject: 'bob', accessKey: 'given', accessKeyScope: scope })
    expect(text).not.toContain(given)
    const log = functions.get().log.join('')
    expect(log).not.toContain(given)
    expect(log).toContain('"reviewedKey":"given"')
    expect(await lastActivityOf('given')).toBeDefined()
  })

  test('does not count a dry run as a use of the access key in spec', async () => {
    expect((await askOf(await createKey('unused'), { dryRun: 'All' })).json.status.accessKey).toBe('unused')
    expect(await lastActivityOf('unused')).toBeUndefined()
  })

  test('returns a team and the scope of its key', async () => {
    const scope = { projects: [{ project: 'web' }] }
    const team = withScopes({ ...userNamed('team:ops'), identity: 'team:ops' }, scope)
    expect(await ask(team)).toMatchObject({ team: { name: 'ops' }, accessKeyScope: scope })
    expect(await ask(team)).not.toHaveProperty('user')
  })
})

// The same error as for a request with that key.
describe('401', () => {
  // threat: authorizer-1
  test('for an unknown access key in spec, in every format', async () => {
    for (const given of ['x', 'not a key', `mpk_${'0'.repeat(49)}`, 'a'.repeat(40)]) {
      const { status, json, text } = await askOf(given)
      expect([status, json.message, text.includes(given)]).toEqual([401, 'Unauthorized', false])
    }
  })

  test('for an invalid access key in spec', async () => {
    const given = await createKey('dead', { disabled: true })
    expect((await askOf(given)).json).toMatchObject({ code: 401, message: 'access key is disabled' })
  })
})
