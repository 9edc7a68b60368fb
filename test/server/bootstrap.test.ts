/** Tests the first access key and its replacement. */
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ensureFirstKey } from '../../lib/server/bootstrap.ts'
import { keys as path } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
let kept: string | undefined

const secrets = {
  find: async () => kept,
  // As slow as a service: a first key that is not awaited would not be stored yet.
  async put(_: string, text: string) {
    await setImmediate()
    kept = text
  },
}
const bootstrap = () => ensureFirstKey(Object.create(server.parts, { secrets: { value: secrets } }), '')

const self = (token: string) => server.post('/apis/management.platform/v1/selves', {}, token)

// threat: deployment-2
test("the first key is an administrator's and is kept while it works", async () => {
  expect(await bootstrap()).toBe('made')
  const first = kept ?? ''
  expect((await self(first)).json.status.groups).toContain('system:masters')
  expect(await bootstrap()).toBe('kept')
  expect(kept).toBe(first)
})

// A key is deleted because it leaked. Nothing may store that value again.
// threat: deployment-2
test('a deleted or disabled first key stays invalid and is replaced', async () => {
  const leaked = kept ?? ''
  const { accessKey } = (await self(leaked)).json.status
  expect((await server.call(`${path}/${accessKey}`, { method: 'DELETE' })).status).toBe(200)
  expect(await bootstrap()).toBe('made')
  expect((await self(leaked)).status).toBe(401)
  const second = kept ?? ''
  const name = (await self(second)).json.status.accessKey
  const disabled = { method: 'PATCH', body: '{"spec":{"disabled":true}}' }
  const headers = { 'content-type': 'application/merge-patch+json' }
  expect((await server.call(`${path}/${name}`, { ...disabled, headers })).status).toBe(200)
  expect(await bootstrap()).toBe('made')
  expect((await self(second)).json.message).toBe('access key is disabled')
  expect((await self(kept ?? '')).status).toBe(201)
})
