import { expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { alice } from '../../support/users.ts'
import { describeVirtual } from '../virtual/create.ts'

const functions = useFunctions({ MAX_TOKEN_TTL_SECONDS: '604800' })
const kind = 'DirectClusterEndpointToken'
const create = (spec: object, user = alice, query: Record<string, string> = {}, accept = 'application/json') =>
  functions.invoke('directclusterendpointtokens/create', {
    user,
    query,
    headers: { accept },
    body: { apiVersion: 'management.platform/v1', kind, spec },
  })

describeVirtual(functions, {
  name: 'directclusterendpointtokens/create',
  apiVersion: 'management.platform/v1',
  kind,
  spec: { ttl: 600 },
  hasCredential: true,
})

test('a shortened token has a warning, also in the form of an ExecCredential', async () => {
  const user = { ...alice, key: { ...alice.key, expires: Math.floor(Date.now() / 1000) + 120 } }
  const { json, headers } = await create({ ttl: 3600 }, user)
  const accept = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1'
  const exec = await create({ ttl: 3600 }, user, {}, accept)
  const warningOf = (token: string) => {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return [`299 - "requested expiration of 3600 seconds shortened to ${exp - iat} seconds"`]
  }
  expect(headers.warning).toEqual(warningOf(json.status.token))
  expect([exec.json.kind, exec.headers.warning]).toEqual(['ExecCredential', warningOf(exec.json.status.token)])
})

test('signs nothing in a dry run', async () => {
  const { status, json } = await create({}, alice, { dryRun: 'All' })
  expect([status, json.status.token]).toEqual([201, undefined])
})

test.each([
  { spec: { ttl: -1 }, field: 'spec.ttl' },
  { spec: { ttl: 604801 }, field: 'spec.ttl' },
  { spec: { scope: { roles: [{ role: 'nonsense' }] } }, field: 'spec.scope.roles[0].role' },
])('422 for $spec', async ({ spec, field }) => {
  const { status, json } = await create(spec)
  expect([status, json.details.causes[0].field]).toEqual([422, field])
})
