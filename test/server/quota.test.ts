/** Tests the limit on the access keys of an owner against the whole API. */

import { expect, test } from 'vitest'
import { apiVersion, keys } from '../support/objects.ts'
import { applyPatch } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'

const most = 4

const server = useServer({ MAX_KEYS_PER_OWNER: String(most) })

const kind = 'OwnedAccessKey'
const keyObject = (metadata: object, spec: object = {}) => ({ apiVersion, kind, metadata, spec })
const generatedKey = (spec: object = {}) => keyObject({ generateName: 'k-' }, spec)
const create = (token: string, body: object = generatedKey(), query = '') => server.post(`${keys}${query}`, body, token)
const keyOf = async (spec: object): Promise<string> => (await server.make(keys, generatedKey(spec))).spec.key

const counted = 'count/ownedaccesskeys.management.platform'
const exceeded = `exceeded quota: max-keys-per-owner, requested: ${counted}=1, used: ${counted}=${most}, limited: ${counted}=${most}`

// threat: gateway-15
test('limits the keys of an owner, whoever creates them', async () => {
  const [one, another, scoped] = [
    await keyOf({ user: 'alice', groups: ['team:ops'] }),
    await keyOf({ user: 'alice' }),
    await keyOf({ user: 'alice', scope: { rules: [{}] } }),
  ]
  expect((await create(scoped)).status).toBe(201)
  for (const token of [one, another, scoped]) {
    const message = `ownedaccesskeys.management.platform "more" is forbidden: ${exceeded}`
    const details = { name: 'more', group: 'management.platform', kind: 'ownedaccesskeys' }
    const { json } = await create(token, keyObject({ name: 'more' }))
    expect(json).toMatchObject({ kind: 'Status', message, reason: 'Forbidden', details, code: 403 })
  }
  // Keys of a team, or of a subject of the same name, do not count.
  expect((await create(one, generatedKey({ team: 'ops' }))).status).toBe(201)
  expect((await create(await keyOf({ subject: 'alice' }))).status).toBe(201)
})

// threat: gateway-15
test('generated names, dry runs and applies have the same limit', async () => {
  const token = await keyOf({ user: 'bob' })
  const answers = []
  for (let tries = 0; tries < 2 * most; tries++) answers.push((await create(token)).status)
  expect(answers.filter((status) => status === 201)).toHaveLength(most - 1)
  const apply = server.call(`${keys}/applied?fieldManager=m`, applyPatch(keyObject({ name: 'applied' }), token))
  for (const { status, json } of [await create(token, generatedKey(), '?dryRun=All'), await apply])
    expect([status, json.message]).toEqual([403, expect.stringContaining(exceeded)])
})

test('deleting frees quota, and changing uses none', async () => {
  const token = await keyOf({ user: 'carol' })
  const made = await Promise.all(Array.from({ length: most - 1 }, () => create(token)))
  const name = made[0]?.json.metadata.name
  expect((await server.patch(`${keys}/${name}`, { spec: { description: 'x' } }, token)).status).toBe(200)
  expect((await create(token)).status).toBe(403)
  expect((await server.call(`${keys}/${name}`, { method: 'DELETE', token })).status).toBe(200)
  expect((await create(token)).status).toBe(201)
})

test('an administrator has no limit, except with a scope', async () => {
  for (let more = 0; more <= most; more++)
    expect((await create(server.adminKey, generatedKey({ user: 'dan' }))).status).toBe(201)
  const scoped = await keyOf({ user: 'root', groups: ['system:masters'], scope: { rules: [{}] } })
  expect((await create(scoped, generatedKey({ user: 'dan' }))).status).toBe(403)
})
