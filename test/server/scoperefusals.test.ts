/** Tests what refusals of scopes tell kubectl. */
import { expect, test } from 'vitest'
import { accessKey, apiVersion, keys, management } from '../support/objects.ts'
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

test('the rule that a refusal recommends is written without a Warning', async () => {
  const { token } = await server.makeKey({ user: 'alice', scope: {} })
  const { json } = await server.call(`${keys}/a`, { token })
  const scope = JSON.parse(json.details.causes[0].message.replace(/ would allow it$/, ''))
  expect(scope.rules).toHaveLength(1)
  const { status, headers } = await server.post(keys, accessKey('recommended', { ttl: 3600, scope }))
  expect([status, headers.warning]).toEqual([201, undefined])
})

const scope = { rules: [{ cluster: 'eu' }] }
const provider = { issuer: 'https://issuer.example.com' }

test.each<[string, string, object, string]>([
  ['a key', keys, accessKey('replaceable', { ttl: 3600, scope }), 'spec.scope'],
  ['a token', `${management}/directclusterendpointtokens`, { spec: { scope } }, 'spec.scope'],
  [
    'a provider',
    `${management}/identityproviders`,
    { apiVersion, kind: 'IdentityProvider', metadata: { name: 'eu' }, spec: { ...provider, scope } },
    'spec.scope',
  ],
])('a rule of %s that another list says has a Warning', async (_, path, body, at) => {
  const { status, headers } = await server.post(path, body)
  const warning = `299 - "${at}.rules[0]: deprecated since v1; use ${at}.clusters instead"`
  expect([status, [headers.warning].flat().join()]).toEqual([201, expect.stringContaining(warning)])
})
