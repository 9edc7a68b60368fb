/** Tests what clients get when Lambda throttles the function of their request. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ChangedTemplate, changedTemplate } from '../support/changedtemplate.ts'
import { describeKubectl, kubectlOf } from '../support/kubectl.ts'
import { accessKey, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Reserved concurrency by handler. Lambda never runs a function with 0. */
const reserving = (concurrencyOf: (handler: string) => number | undefined): Promise<ChangedTemplate> =>
  changedTemplate(({ Type, Properties }) => {
    const concurrency = Type === 'AWS::Lambda::Function' ? concurrencyOf(Properties.Handler) : undefined
    if (concurrency !== undefined) Properties.ReservedConcurrentExecutions = concurrency
  })

let server: TestServer
let changed: ChangedTemplate
beforeAll(async () => {
  changed = await reserving((handler) => (handler === 'functions/authorizer.handler' ? undefined : 0))
  server = await startServer({}, { template: changed.template })
}, 120_000)
afterAll(async () => {
  await server?.stop()
  await changed?.remove()
})

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

describeKubectl('kubectl', () => {
  const limits: Record<string, number> = {
    'functions/ownedaccesskeys/list.handler': 1,
    'functions/ownedaccesskeys/create.handler': 0,
  }

  test('repeats a throttled read until it succeeds, and no throttled write', async () => {
    const limited = await reserving((handler) => limits[handler])
    const busy = await startServer({}, { template: limited.template })
    const kubectl = await kubectlOf(busy, busy.adminKey)
    try {
      const watch = busy.call(`${keys}?watch=1&timeoutSeconds=3&resourceVersion=1`)
      // The next step after its authorization is to run the function.
      await vi.waitFor(() => expect(busy.log.join()).toContain('"message":"authorization"'))
      const read = await kubectl.run('get', 'ownedaccesskeys', '-v=6')
      expect(read.code).toBe(0)
      expect(read.stdout).toContain('admin')
      const file = await kubectl.file('key.json', accessKey('a'))
      const written = await kubectl.run('create', '--validate=false', '-f', file, '-v=6')
      expect(written.stderr).toContain('the server is currently unable to handle the request')
      expect(written.stderr.match(/POST/g)).toHaveLength(1)
      expect((await watch).status).toBe(200)
      expect(read.stderr).toMatch(/ownedaccesskeys.*503.*200 OK/s)
    } finally {
      await kubectl.stop()
      await busy.stop()
      await limited.remove()
    }
  })
})
