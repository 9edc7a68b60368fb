/** Tests what refusals of scopes tell kubectl. */
import { expect, test } from 'vitest'
import { keys } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()

test('a refusal of a scope is a Warning for kubectl, which shows no causes', async () => {
  const { token } = await server.makeKey({ user: 'alice', scope: {} })
  const ask = (agent: string) => server.call(`${keys}/a`, { token, headers: { 'user-agent': agent } })
  const { json, headers } = await ask('kubectl/v1.34.4 (linux/amd64) kubernetes/abcdef0')
  const [{ message }] = json.details.causes
  expect(headers.warning).toBe(`299 - "spec.scope: ${message.replaceAll('"', '\\"')}"`)
  expect((await ask('curl/8.5.0')).headers.warning).toBeUndefined()
})
