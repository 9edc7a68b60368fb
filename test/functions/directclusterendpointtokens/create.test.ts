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
  const { headers } = await create({ ttl: 3600 }, user)
  const accept = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1'
  const exec = await create({ ttl: 3600 }, user, {}, accept)
  // A second may pass between the requests.
  const warning = [
    expect.stringMatching(/^299 - "requested expiration of 3600 seconds shortened to 1(20|1\d) seconds"$/),
  ]
  expect([headers.warning, exec.json.kind, exec.headers.warning]).toEqual([warning, 'ExecCredential', warning])
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
