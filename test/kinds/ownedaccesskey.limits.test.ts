/** Tests what limits access keys, and what whoever creates or changes them without limits is told. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import type { UserInfo } from '../../lib/authorization/users/user.ts'
import type { JsonObject } from '../../lib/meta/types.ts'
import { createServer } from '../../lib/server/server.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, alice, contextOf, withScopes } from '../support/users.ts'
import { worldOf } from './contract.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
}, 60_000)
afterAll(() => deployment?.stop())

const world = (server = deployment.parts) => worldOf(OwnedAccessKey, server)
const scope = { projects: [{ project: 'web' }] }

let names = 0
const newName = () => `limits-${++names}`

/** Creates a key, and returns its name and the warnings. */
async function create(spec: JsonObject, user: UserInfo = admin, server = deployment.parts) {
  const name = newName()
  const context = contextOf(user)
  await world(server).create(world(server).object({ name }, { user: 'alice', ...spec }), { context })
  return { name, warnings: context.warnings }
}

/** Changes members of the spec, removes those that are undefined, and returns the warnings. */
async function change(name: string, spec: Record<string, JsonObject[string] | undefined>): Promise<string[]> {
  const context = contextOf(admin)
  const changed = ({ spec: old = {} }: { spec?: JsonObject }) =>
    Object.fromEntries(Object.entries({ ...old, ...spec }).filter(([, value]) => value !== undefined)) as JsonObject
  await world().change(name, (live) => ({ ...live, spec: changed(live) }), { context })
  return context.warnings
}

const unlimited = (name: string) => `access key "${name}" never expires and has every right of alice`

describe('a warning', () => {
  test.each<[string, JsonObject]>([
    ['without end and scope', {}],
    ['of type User', { type: 'User' }],
    ['of type Other', { type: 'Other' }],
    ['with ttl 0', { ttl: 0 }],
    ['that is disabled', { disabled: true }],
  ])('is given for a new key %s', async (_, spec) => {
    const { name, warnings } = await create(spec)
    expect(warnings).toEqual([unlimited(name)])
  })

  test.each<[string, JsonObject, UserInfo?]>([
    ['with an end', { ttl: 3600 }],
    ['with an end after its last use', { ttl: 3600, ttlAfterLastActivity: true }],
    ['with a scope', { scope }],
    ['with the scope of its maker', {}, withScopes(alice, scope)],
    ['of a type that the service manages', { type: 'Reset' }],
  ])('is not given for a new key %s', async (_, spec, user) => {
    expect((await create(spec, user)).warnings).toEqual([])
  })

  test('is not given where the deployment limits the life of every key', async () => {
    const server = createServer({ ...deployment.environment, MAX_KEY_TTL_SECONDS: '86400' })
    expect((await create({}, admin, server)).warnings).toEqual([])
  })

  test('names the team, or the subject, whose rights the key has', async () => {
    const team = await create({ user: '', team: 'ops' })
    expect(team.warnings).toEqual([expect.stringMatching(/ has every right of team:ops$/)])
  })

  test('is given for a change that removes a restriction', async () => {
    const { name } = await create({ scope, ttl: 60 })
    const loses = (member: string) => `access key "${name}" is no longer restricted by ${member}`
    expect(await change(name, { scope: undefined })).toEqual([loses('spec.scope')])
    expect(await change(name, { ttl: 0 })).toEqual([loses('spec.ttl'), unlimited(name)])
    expect(await change(name, { description: 'x' })).toEqual([])
    expect(await change(name, { scope, ttl: 60 })).toEqual([])
    expect(await change(name, { ttl: 90 })).toEqual([])
    expect(await change(name, { scope: undefined, ttl: undefined })).toEqual([
      loses('spec.scope'),
      loses('spec.ttl'),
      unlimited(name),
    ])
  })
})
