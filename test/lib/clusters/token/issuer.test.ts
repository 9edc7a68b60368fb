import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import {
  type ClusterTokenRequest,
  type IssuerSettings,
  issueToken,
  type Prepared,
  prepareClusterToken,
  prepareVirtualClusterToken,
  signatureWarnings,
} from '../../../../lib/clusters/token/issuer.ts'
import { jwksDocument } from '../../../../lib/clusters/token/jwks.ts'
import { MAX_TOKEN_LENGTH, tokenLength } from '../../../../lib/clusters/token/jwt.ts'
import { StatusError } from '../../../../lib/engine/meta/errors/status.ts'
import { localSigner } from './localsigner.ts'

const now = new Date('2026-11-21T12:00:00.500Z')
const iat = Math.floor(now.getTime() / 1000)
const issuer = 'https://api.example.com/kubernetes/management'
const cluster = { namespace: 'p-shop', name: 'dev', uid: '0f3c' }
const settings: IssuerSettings = { issuer, maxSeconds: 604_800, projectNamespacePrefix: 'p-', uuid: () => 'uuid-1' }

const user = (changes: Partial<UserInfo> = {}): UserInfo => ({
  name: 'ci',
  groups: ['ops', 'system:authenticated'],
  key: { name: 'ci-key', uid: 'key-uid', type: 'User' },
  chain: [],
  ...changes,
})

const prepare = (request: Partial<ClusterTokenRequest> = {}) =>
  prepareClusterToken({ user: user(), now, ...request }, settings)

function requirePrepared(result: ReturnType<typeof prepare>): Prepared {
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return result
}

const problems = (result: ReturnType<typeof prepare>) =>
  'errors' in result ? result.errors.map(({ type, field, message }) => `${type} ${field}: ${message}`) : []

function statusOf(run: () => unknown): { code?: number; message?: string } {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return error.status
    throw error
  }
  return {}
}

describe('a direct cluster token', () => {
  test('has the issuer, audiences, times, user and key', () => {
    const scope = { clusters: [{ cluster: 'eu' }] }
    expect(prepare({ scope, ttl: 3600 })).toEqual({
      claims: {
        iss: issuer,
        aud: [`${issuer}/clusters/eu`],
        sub: 'ci',
        groups: ['ops'],
        jti: 'uuid-1',
        iat,
        nbf: iat,
        exp: iat + 3600,
        'management.platform': {
          key: { name: 'ci-key', uid: 'key-uid', run: 'key ci-key' },
          scopes: '[]',
        },
      },
      warnings: [],
    })
  })

  test('has an empty chain when unrestricted', () => {
    const { claims } = requirePrepared(prepare())
    expect(claims.aud).toEqual([`${issuer}/clusters/*`])
    expect([claims['management.platform'].scopes, claims.exp - claims.iat]).toEqual(['[]', 86_400])
  })

  const euAndUs = { clusters: [{ cluster: 'eu' }, { cluster: 'us' }] }
  const us = { clusters: [{ cluster: 'us' }] }
  const reads = { rules: [{ cluster: 'us', verbs: ['get'] }] }

  test.each<[string, Scope[], Scope | undefined, Scope[], string[]]>([
    [
      'the scopes of the key before its own, if one restricts anything there',
      [euAndUs],
      reads,
      [euAndUs, reads],
      ['us'],
    ],
    ['no scopes for one cluster in which none restricts anything', [euAndUs], us, [], ['us']],
    ['its scopes for several clusters', [euAndUs], undefined, [euAndUs], ['eu', 'us']],
  ])('has %s', (_, chain, scope, expected, clusters) => {
    const { claims } = requirePrepared(prepare({ user: user({ chain }), ...(scope && { scope }) }))
    expect(JSON.parse(claims['management.platform'].scopes)).toEqual(expected)
    expect(claims.aud).toEqual(clusters.map((one) => `${issuer}/clusters/${one}`))
  })

  test('puts administrators into platform:admins, not system:masters', () => {
    const groups = ['system:masters', 'system:authenticated', 'team:core']
    expect(requirePrepared(prepare({ user: user({ groups }) })).claims.groups).toEqual(['platform:admins', 'team:core'])
  })

  // threat: rotation-12
  test('is limited to the end of a value that was rotated, with a warning', () => {
    const credential = { version: '1', hash: 'h', created: 0, until: iat + 60 }
    const { claims, warnings } = requirePrepared(prepare({ user: { ...user(), credential }, ttl: 3600 }))
    expect(claims.exp).toBe(iat + 60)
    expect(warnings).toEqual(['requested expiration of 3600 seconds shortened to 60 seconds'])
  })

  test('is limited to the lifetime of the key, with a warning', () => {
    const key = { ...user().key, expires: iat + 60 }
    const { claims, warnings } = requirePrepared(prepare({ user: user({ key }), ttl: 3600 }))
    expect(claims.exp).toBe(iat + 60)
    expect(warnings).toEqual(['requested expiration of 3600 seconds shortened to 60 seconds'])
  })

  test('throws 403 for a user that clusters must not see', () =>
    expect(statusOf(() => prepare({ user: user({ name: 'system:admin' }) }))).toMatchObject({ code: 403 }))

  test('throws 401 for a key that has just expired', () => {
    const key = { ...user().key, expires: iat }
    expect(statusOf(() => prepare({ user: user({ key }) }))).toMatchObject({ code: 401 })
  })
})

describe('field errors of a direct cluster token', () => {
  const limited = user({ chain: [{ clusters: [{ cluster: 'eu' }] }] })
  const elsewhere = { clusters: [{ cluster: 'us' }] }
  const kubeConfig =
    'for a virtual cluster create a kube config, which has a token for it: POST …/virtualclusterinstances/NAME/kubeconfig'

  test.each<[string, Partial<ClusterTokenRequest>, string]>([
    [
      'reject a scope that allows no cluster',
      { scope: {} },
      'allows no connected cluster for the token: list clusters or spaces',
    ],
    [
      'reject scopes that together allow no cluster',
      { user: limited, scope: elsewhere },
      'together with the scope of the access key, allows no connected cluster for the token',
    ],
    [
      'reject a key whose scope allows no cluster',
      { user: user({ chain: [{}] }) },
      'the scope of the access key allows no connected cluster for the token',
    ],
    [
      'name the kube config for a scope with virtual clusters only',
      { scope: { virtualClusters: [{ project: 'shop', virtualCluster: 'preview' }] } },
      `allows no connected cluster for the token: list clusters or spaces; ${kubeConfig}`,
    ],
    [
      'name the kube config for a key whose rules are for virtual clusters',
      { user: user({ chain: [{ rules: [{ virtualClusters: [{ name: 'preview', namespace: 'p-shop' }] }] }] }) },
      `the scope of the access key allows no connected cluster for the token; ${kubeConfig}`,
    ],
  ])('%s', (_, request, detail) => {
    expect(problems(prepare(request))).toEqual([`FieldValueForbidden spec.scope: Forbidden: ${detail}`])
  })

  test('are reported together', () => {
    const chain = Array.from({ length: 8 }, (_, i) => ({ clusters: [{ cluster: `c${i}` }] }))
    expect(problems(prepare({ ttl: -1, user: user({ chain }), scope: {} }))).toEqual([
      'FieldValueInvalid spec.ttl: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueTooMany spec.scope: Too many: 9: must have at most 8 items',
    ])
  })

  test('include a token too large for a header', () => {
    const names = Array.from({ length: 120 }, (_, i) => ({ cluster: `cluster-${i}` }))
    expect(problems(prepare({ scope: { clusters: names } }))).toEqual([
      'FieldValueForbidden spec.scope: Forbidden: scopes and groups make a token of more than 8000 characters, which does not fit a request header',
    ])
  })
})

describe('a token for a virtual cluster', () => {
  test('is valid only for that virtual cluster', () => {
    const { claims } = prepareVirtualClusterToken({ user: user(), cluster, seconds: 600, now }, settings)
    expect(claims.aud).toEqual([`${issuer}/virtualclusters/p-shop/dev/0f3c`])
    expect(claims.exp).toBe(iat + 600)
  })

  test('is limited to the lifetime of the key', () => {
    const key = { ...user().key, expires: iat + 60 }
    const { claims, warnings } = prepareVirtualClusterToken(
      { user: user({ key }), cluster, seconds: 600, now },
      settings,
    )
    expect(claims.exp).toBe(iat + 60)
    expect(warnings).toHaveLength(1)
  })

  test('throws 403 when the groups do not fit a header, and for a system: user', () => {
    const groups = Array.from({ length: 1000 }, (_, i) => `group-${i}`)
    const attempt = (changes: Partial<UserInfo>) =>
      statusOf(() => prepareVirtualClusterToken({ user: user(changes), cluster, seconds: 600, now }, settings))
    expect(attempt({ groups })).toMatchObject({ code: 403 })
    expect(attempt({ name: 'system:node:a' })).toMatchObject({ code: 403 })
  })
})

describe('the signed text', () => {
  test.each([
    ['ES256', 256, []],
    ['RS256', 0, [expect.stringContaining('enforces no scopes')]],
  ] as const)(
    'verifies with the published keys and has at most the predicted length: %s',
    async (alg, less, warnings) => {
      const signer = await localSigner(alg)
      const ready = requirePrepared(prepare({ ttl: 3600 }))
      const { token, expires } = await issueToken(ready, signer)
      const keys = createLocalJWKSet(await jwksDocument(signer))
      const { payload, protectedHeader } = await jwtVerify(token, keys, { currentDate: now })
      expect(payload).toEqual(ready.claims)
      expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: (await signer.keys())[0].kid })
      expect(expires).toEqual(new Date((iat + 3600) * 1000))
      expect(token.length).toBe(tokenLength(ready.claims) - less)
      expect(token.length).toBeLessThan(MAX_TOKEN_LENGTH)
      expect(await signatureWarnings(signer)).toEqual(warnings)
    },
  )
})
