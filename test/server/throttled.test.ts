/** Tests what clients get when Lambda throttles the function of their request. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deployed } from '../../infra/local/gateway/deployment.ts'
import { accessKey, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  // Lambda never runs a function with a reserved concurrency of 0.
  const limited = [...deployed.functions].map(([id, one]) => {
    return [id, id === 'Authorizer' ? one : { ...one, concurrency: 0 }] as const
  })
  server = await startServer({}, { deployment: { ...deployed, functions: new Map(limited) } })
})
afterAll(() => server?.stop())

const unavailable = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'the server is currently unable to handle the request',
  reason: 'ServiceUnavailable',
  code: 503,
}

test.each([
  { what: 'a get', method: 'GET', path: `${keys}/a` },
  { what: 'a list', method: 'GET', path: keys },
  { what: 'a HEAD of a list', method: 'HEAD', path: keys },
  { what: 'a path of the catch-all route', method: 'GET', path: '/nowhere' },
])('$what is a 503 with Retry-After', async ({ method, path }) => {
  const { status, headers, json } = await server.call(path, { method })
  expect([status, headers['retry-after']]).toEqual([503, '1'])
  expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/)
  if (method !== 'HEAD') expect(json).toEqual(unavailable)
})

test.each([
  { what: 'a create', method: 'POST', path: keys, body: accessKey('a') },
  { what: 'a replacement', method: 'PUT', path: `${keys}/a`, body: accessKey('a') },
  { what: 'a patch', method: 'PATCH', path: `${keys}/a`, body: {} },
  { what: 'a delete', method: 'DELETE', path: `${keys}/a`, body: undefined },
])('$what is a 503 that clients do not repeat by themselves', async ({ method, path, body }) => {
  const { status, headers, json } = await server.call(path, { method, body })
  expect([status, headers['retry-after'] || undefined, json]).toEqual([503, undefined, unavailable])
})
