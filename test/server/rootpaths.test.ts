/** Tests the API at the root of its stage, for clients that drop the base path of the server URL. */
import https from 'node:https'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accessKey, instances, keys } from '../support/objects.ts'
import { type Answer, type Call, request } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'
import cases from './vectors/rootpaths.cases.json' with { type: 'json' }

const server = useServer()
let agent: https.Agent
beforeAll(() => {
  agent = new https.Agent({ ca: server.certificateAuthority, keepAlive: true })
})
afterAll(() => agent?.destroy())

const atRoot = (path: string, call: Call = {}): Promise<Answer> =>
  request(agent, server.root + path, { token: server.adminKey, ...call })

test.each(cases.roots)('%s returns the same as below the base path', async (path) => {
  const [root, below] = await Promise.all([atRoot(path), server.call(path)])
  expect(root.status).toEqual(below.status)
  expect(root.text).toEqual(below.text)
  expect(root.headers['content-type']).toEqual(below.headers['content-type'])
})

// The root has its own routes, so authorization is tested here too.
// threat: authorizer-2
test('scopes and authentication apply at the root too', async () => {
  const body = accessKey('narrow', { user: 'alice', scope: { projects: [{ project: 'shop' }] } })
  const { spec } = await server.make(keys, body)
  const paths = [keys, `${keys}/narrow`, instances('p-shop'), instances('p-other'), '/api/v1/namespaces', '/nothing']
  for (const path of [...paths, '/apis', '/openapi/v3']) {
    const [root, below] = await Promise.all([atRoot(path, { token: spec.key }), server.call(path, { token: spec.key })])
    expect([path, root.status, root.json?.message]).toEqual([path, below.status, below.json?.message])
    expect([path, (await atRoot(path, { token: '' })).status]).toEqual([path, 401])
  }
  expect((await atRoot(instances('p-other'), { token: spec.key })).status).toBe(403)
})

test('the documents of the issuer exist below the base path only', async () => {
  for (const path of ['/.well-known/openid-configuration', '/openid/v1/jwks'])
    expect([path, (await atRoot(path)).status, (await atRoot(path, { token: '' })).status]).toEqual([path, 404, 401])
})
