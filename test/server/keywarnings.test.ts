/** Tests the warnings about the access key of a request, which every response to it has. */
import { beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { accessKey, keys, management } from '../support/objects.ts'
import type { Call } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'
import { admin, contextOf } from '../support/users.ts'

const DAY = 86_400
const server = useServer()
/** A key that ends in three days, of the thirty that it lives. */
let ending: string

beforeAll(async () => {
  ending = await keyMade(27 * DAY, 'ending')
})

/** Returns the value of an administrator's key that was made some seconds ago, and lives for 30 days. */
async function keyMade(ago: number, name: string, spec: JsonObject = {}): Promise<string> {
  const store = server.parts.storeOf(OwnedAccessKey)
  const object = { ...accessKey(name), spec: { user: 'admin', groups: ['system:masters'], ttl: 30 * DAY, ...spec } }
  const context = contextOf(admin, { now: new Date(Date.now() - ago * 1000) })
  const { reveal } = await createObject(store, { object, secrets: [] }, context)
  return String(reveal?.[0]?.value)
}

const WARNING = /^299 - "access key \\"ending\\" expires in (2d23h|3d) \(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\)"$/

const requests: [string, string, Call, number][] = [
  ['get', `${keys}/ending`, {}, 200],
  ['list, which is streamed', keys, {}, 200],
  ['watch', `${keys}?watch=true&timeoutSeconds=1`, {}, 200],
  ['create of what is not stored', `${management}/selves`, { method: 'POST', body: {} }, 201],
  ['dry run', `${keys}?dryRun=All`, { method: 'POST', body: accessKey('dry', { user: 'bob', ttl: 60 }) }, 201],
  ['missing object', `${keys}/missing`, {}, 404],
  ['invalid object', keys, { method: 'POST', body: accessKey('wrong', { ttl: -1 }) }, 422],
  ['body that cannot be read', keys, { method: 'POST', body: '{' }, 400],
  ['unknown path', '/apis/management.platform/v1/nothing', {}, 404],
  ['discovery', '/apis/management.platform/v1', {}, 200],
]

test.each(requests)('the response has it: %s', async (_, path, call, status) => {
  const answer = await server.call(path, { ...call, token: ending })
  expect([answer.status, answer.headers.warning]).toEqual([status, expect.stringMatching(WARNING)])
})

test('the response has it before the other warnings', async () => {
  const body = accessKey('finalized', { user: 'bob', ttl: 60 }, { finalizers: ['unqualified'] })
  const { headers } = await server.post(`${keys}?dryRun=All`, body, ending)
  expect(headers.warning).toMatch(/^299 - "access key .*, 299 - "metadata\.finalizers: /)
})

test('the response has none for a key that is refused, nor for a path that needs none', async () => {
  const token = await keyMade(31 * DAY, 'ended')
  const { status, headers } = await server.call(keys, { token })
  expect([status, headers.warning]).toEqual([401, undefined])
  expect((await server.call('/version', { token: ending })).headers.warning).toBeUndefined()
})

test('selves says when the key expires', async () => {
  const { json } = await server.post(`${management}/selves`, {}, ending)
  const { status } = (await server.call(`${keys}/ending`)).json
  expect(json.status.expirationTimestamp).toBe(status.expirationTimestamp)
  const mine = await server.post(`${management}/selves`, {})
  expect(mine.json.status).not.toHaveProperty('expirationTimestamp')
  const body = { spec: { accessKey: ending } }
  const asked = await server.post(`${management}/selves`, body)
  expect(asked.json.status.expirationTimestamp).toBe(status.expirationTimestamp)
})
