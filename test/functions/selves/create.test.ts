import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { alice, scoped, userNamed } from '../../support/users.ts'
import { describeVirtual } from '../virtual/create.ts'

const functions = useFunctions()
const ask = async (user: typeof alice) =>
  (await functions.invoke('selves/create', { user, headers: { accept: 'application/json' } })).json.status

describeVirtual(functions, {
  name: 'selves/create',
  apiVersion: 'management.platform/v1',
  kind: 'Self',
  spec: {},
})

describe('201', () => {
  // What clients of the field read, by the names that they read it under.
  test('a user', async () => {
    expect(await ask(alice)).toEqual({
      user: { name: 'alice', username: 'alice', displayName: 'alice', subject: 'alice' },
      subject: 'alice',
      uid: 'uid-of-alice',
      groups: ['system:authenticated'],
      accessKey: 'key-of-alice',
      accessKeyType: 'User',
      projectNamespacePrefix: 'p-',
    })
  })

  test('a subject, whose name is not that of a user', async () => {
    const name = 'subject:alice'
    expect(await ask({ ...userNamed(name), identity: name })).toMatchObject({
      user: { name, username: name, displayName: 'alice', subject: name },
      subject: name,
    })
  })

  test('a team, and the scope of its key', async () => {
    const scope = { projects: [{ project: 'web' }] }
    const team = scoped({ ...userNamed('team:ops'), identity: 'team:ops' }, scope)
    expect(await ask(team)).toMatchObject({ team: { name: 'ops' }, accessKeyScope: scope })
    expect(await ask(team)).not.toHaveProperty('user')
  })
})
