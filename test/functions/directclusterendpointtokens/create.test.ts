import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { admin, alice, withScopes } from '../../support/users.ts'
import { describeVirtual } from '../virtual/create.ts'

const functions = useFunctions({ MAX_TOKEN_TTL_SECONDS: '604800' })
const kind = 'DirectClusterEndpointToken'
const create = (spec: object, user = alice, query: Record<string, string> = {}) =>
  functions.invoke('directclusterendpointtokens/create', {
    user,
    query,
    headers: { accept: 'application/json' },
    body: { apiVersion: 'management.platform/v1', kind, spec },
  })

describeVirtual(functions, {
  name: 'directclusterendpointtokens/create',
  apiVersion: 'management.platform/v1',
  kind,
  spec: { ttl: 600 },
  hasCredential: true,
})

describe('201', () => {
  // The audience decides where a token works: a cluster cannot replay it at another cluster.
  test('issues a token for the clusters of the scope', async () => {
    const { json } = await create({ ttl: 600, scope: { clusters: [{ cluster: 'eu-1' }] } })
    const claims = decodeJwt(json.status.token)
    const issuer = 'https://keyplane.example.com/kubernetes/management'
    expect(claims).toMatchObject({ iss: issuer, sub: 'alice', aud: [`${issuer}/clusters/eu-1`] })
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(600)
    expect(Date.parse(json.status.expirationTimestamp)).toBe((claims.exp ?? 0) * 1000)
  })

  test('defaults an absent or zero ttl to one day', async () => {
    for (const spec of [{}, { ttl: 0 }]) {
      const { exp = 0, iat = 0 } = decodeJwt((await create(spec)).json.status.token)
      expect(exp - iat).toBe(86400)
    }
  })

  // A token never outlives its key.
  test('shortens the token, with a warning, if the key expires earlier', async () => {
    const expires = Math.floor(Date.now() / 1000) + 120
    const { json, headers } = await create({ ttl: 3600 }, { ...alice, key: { ...alice.key, expires } })
    expect(decodeJwt(json.status.token).exp).toBe(expires)
    expect(headers.warning).toHaveLength(1)
  })

  test('warns in the form of an ExecCredential as well', async () => {
    const expires = Math.floor(Date.now() / 1000) + 120
    const user = { ...alice, key: { ...alice.key, expires } }
    const body = { apiVersion: 'management.platform/v1', kind, spec: { ttl: 3600 } }
    const accept = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1'
    const { json, headers } = await functions.invoke('directclusterendpointtokens/create', {
      user,
      body,
      headers: { accept },
    })
    expect([json.kind, headers.warning]).toEqual([
      'ExecCredential',
      (await create({ ttl: 3600 }, user)).headers.warning,
    ])
    expect(headers.warning).toHaveLength(1)
  })

  // An administrator of this API is not an administrator of clusters.
  test('omits system: groups from the token', async () => {
    const { json } = await create({}, admin)
    expect(decodeJwt(json.status.token).groups).toEqual(['platform:admins'])
  })

  test('signs nothing in a dry run', async () => {
    const { status, json } = await create({}, alice, { dryRun: 'All' })
    expect([status, json.status.token]).toEqual([201, undefined])
  })

  // The token contains the scopes of its key.
  test('issues a token with the scopes of the key', async () => {
    const scope = { clusters: [{ cluster: 'eu-1' }] }
    const own = { clusters: [{ cluster: '*' }] }
    const { json } = await create({ scope: own }, withScopes(alice, scope))
    const claims = decodeJwt<{ 'management.platform': { scopes: string } }>(json.status.token)
    expect(JSON.parse(claims['management.platform'].scopes)).toEqual([scope, own])
    expect(claims.aud).toEqual([expect.stringMatching(/\/clusters\/eu-1$/)])
  })
})

describe('422', () => {
  test.each([
    { spec: { ttl: -1 }, field: 'spec.ttl' },
    { spec: { ttl: 604801 }, field: 'spec.ttl' },
    { spec: { scope: { roles: [{ role: 'nonsense' }] } }, field: 'spec.scope.roles[0].role' },
  ])('for $spec', async ({ spec, field }) => {
    const { status, json } = await create(spec)
    expect([status, json.details.causes[0].field]).toEqual([422, field])
  })
})
