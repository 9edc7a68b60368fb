/** Tests exchanges for the token of a cluster or virtual cluster: its forms, who may have it, what ends it, and what repeats cost. */
import { createPublicKey, randomUUID } from 'node:crypto'
import { compactVerify, decodeJwt, type JWTPayload } from 'jose'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchange } from '../../lib/federation/exchange/exchange.ts'
import { OAuthError } from '../../lib/federation/oauth/oautherror.ts'
import { revoke as revokeToken } from '../../lib/server/oauth/revoke.ts'
import { type AccountCluster, encodeToken, startAccountCluster } from '../support/accountcluster.ts'
import { endless } from '../support/deadlines.ts'
import { exchangeParts } from '../support/exchangeparts.ts'
import {
  exchangeForm,
  type Federation,
  type Parameters,
  provider,
  providers,
  revokePath,
  sendForm,
  startFederation,
  trusts,
} from '../support/federation.ts'
import { apiVersion, instances, keys, management } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import { endSecrets, publishEvents, useServer, whileFunctionsRun } from '../support/sharedserver.ts'

const server = useServer()
const tokenType = 'urn:ietf:params:oauth:token-type:jwt'
const lifetimeIssuer = 'https://ci.example.com'
let federation: Federation
/** Trusts of team shop for cluster prod and virtual cluster shop/dev: of an ID token that is exchanged once, and during its life. */
let once: string
let lifetime: string
let devUid: string
const scope = { clusters: [{ cluster: 'prod' }], virtualClusters: [{ project: 'shop', virtualCluster: '*' }] }
const access = [{ verbs: ['get', 'create'], subresources: ['kubeconfig'], teams: ['shop'] }]

beforeAll(async () => {
  federation = await startFederation(server)
  once = await federation.trust('shop', { scope })
  const jwks = federation.issuer.jwks()
  await server.make(providers, provider('ci', { issuer: lifetimeIssuer, type: 'OIDC', jwks, tokenUse: 'Lifetime' }))
  lifetime = await trustOf('ci-shop')
  const ca = server.certificateAuthority
  const authority = Buffer.from(ca).toString('base64')
  const spec = {
    accessPoint: { ingress: { enabled: true, host: 'dev.example.com' } },
    certificateAuthorityData: authority,
  }
  const instance = (name: string, more: object) => ({
    apiVersion,
    kind: 'VirtualClusterInstance',
    metadata: { name },
    spec: { ...spec, ...more },
  })
  const { metadata } = await server.make(instances('p-shop'), instance('dev', { access }))
  devUid = metadata.uid
  await server.make(instances('p-shop'), instance('closed', {}))
  const cluster = (name: string, more: object) => ({
    apiVersion,
    kind: 'Cluster',
    metadata: { name },
    spec: { server: `https://${name}.example.com`, certificateAuthorityData: authority, ...more },
  })
  await server.make(`${management}/clusters`, cluster('prod', { access }))
  await server.make(`${management}/clusters`, cluster('staging', { access }))
})
afterAll(() => federation?.close())

const trustOf = (name: string, more: object = {}) =>
  federation.trust(name, {
    identityProvider: 'ci',
    claims: [{ claim: 'sub', values: ['job'] }],
    scope,
    ...more,
  })

let count = 0
const ciToken = (claims: object = {}) =>
  federation.issuer.sign({ iss: lifetimeIssuer, sub: 'job', aud: server.base, jti: `ci-${++count}`, ...claims })

const toProd = { audience: 'clusters/prod' }
const ask = (more: Parameters, headers: Record<string, string> = {}) =>
  federation.exchange(once, federation.sign(), more, headers)
const errorOf = ({ status, json }: Answer) => [status, json.error, json.error_description]

/** Checks the signature with the published keys, and returns the claims. */
async function claimsOf(token: string) {
  const { json } = await server.call('/openid/v1/jwks', { token: '' })
  const [{ kid, ...jwk }] = json.keys
  const { payload } = await compactVerify(token, createPublicKey({ key: jwk, format: 'jwk' }))
  expect(kid).toEqual(expect.any(String))
  return JSON.parse(Buffer.from(payload).toString())
}

const keyIn = (token: string) => (decodeJwt(token)['management.platform'] as { key: { name: string; uid: string } }).key
const countKeys = async () => (await server.call(`${keys}?limit=500`)).json.items.length

describe('an exchange with a target', () => {
  test('answers the token of a connected cluster, as a DirectClusterEndpointToken for it would be', async () => {
    const { status, json, headers } = await ask(toProd)
    expect([status, json]).toEqual([
      200,
      { access_token: expect.any(String), issued_token_type: tokenType, token_type: 'Bearer', expires_in: 3600 },
    ])
    expect(headers['cache-control']).toBe('no-store')
    const claims = await claimsOf(json.access_token)
    expect(claims).toMatchObject({
      iss: server.base,
      aud: [`${server.base}/clusters/prod`],
      sub: 'team:shop',
      'management.platform': { scopes: '[]', key: { run: 'octo-org/octo-repo (run 1234567890)' } },
    })
    expect(claims.exp - claims.iat).toBe(3600)
  })

  test.each([
    [
      'resource of a cluster',
      () => ({ resource: `${server.base}/clusters/prod` }),
      () => `${server.base}/clusters/prod`,
    ],
    ['audience of a virtual cluster', () => ({ audience: 'virtualclusters/shop/dev' }), () => devAudience()],
    ['resource of a virtual cluster', () => ({ resource: devAudience() }), () => devAudience()],
  ])('takes %s', async (_what, parameters, audience) => {
    const { status, json } = await ask(parameters())
    expect([status, json.error_description]).toEqual([200, undefined])
    expect((await claimsOf(json.access_token)).aud).toEqual([audience()])
  })

  test('has the forms of text and of ExecCredentials, which end with the key', async () => {
    const text = await ask(toProd, { accept: 'text/plain' })
    expect((await claimsOf(text.text)).aud).toEqual([`${server.base}/clusters/prod`])
    const accept = 'application/json;as=ExecCredential;v=v1;g=client.authentication.k8s.io'
    const { json } = await ask(toProd, { accept })
    const { exp } = await claimsOf(json.status.token)
    expect(Date.parse(json.status.expirationTimestamp)).toBe(exp * 1000)
    const { json: key } = await server.call(`${keys}/${keyIn(json.status.token).name}`)
    expect(key.status).toMatchObject({ expirationTimestamp: json.status.expirationTimestamp, target: 'clusters/prod' })
  })

  test.each([
    ['clusters/prod', 'https://prod.example.com'],
    ['virtualclusters/shop/dev', 'https://dev.example.com'],
  ])('writes a whole kube config for %s', async (audience, address) => {
    const { status, text, headers } = await ask({ audience }, { accept: 'application/yaml;as=KubeConfig' })
    expect([status, headers['content-type']]).toEqual([200, 'application/yaml'])
    // biome-ignore lint/suspicious/noExplicitAny: a document.
    const config = load(text) as any
    expect(config.clusters[0].cluster).toMatchObject({
      server: address,
      'certificate-authority-data': expect.any(String),
    })
    const claims = await claimsOf(config.users[0].user.token)
    expect(claims.sub).toBe('team:shop')
  })

  test('narrows the token by the requested scope', async () => {
    const { json } = await ask({ ...toProd, scope: 'project:shop cluster:prod' })
    expect(json.scope).toBe('project:shop cluster:prod')
    const narrow = await ask({ ...toProd, scope: 'project:shop' })
    expect(errorOf(narrow)).toEqual([400, 'invalid_target', expect.stringContaining('cluster')])
  })

  test('of a dry run says what would be granted, and writes nothing', async () => {
    const before = await countKeys()
    const token = federation.sign()
    const dry = await federation.exchange(once, token, { ...toProd, dry_run: 'true' })
    expect([dry.status, dry.json]).toEqual([200, { accepted: true, expires_in: 3600 }])
    expect(await countKeys()).toBe(before)
    expect((await federation.exchange(once, token, toProd)).status).toBe(200)
  })

  test('names the target, the token and the run in the audit record, and never the token', async () => {
    const answer = await ask(toProd)
    const claims = decodeJwt(answer.json.access_token)
    const { name, uid } = keyIn(answer.json.access_token)
    expect(server.auditOf(answer)).toMatchObject({
      target: 'clusters/prod',
      credential: 'token',
      jti: claims.jti,
      audiences: claims.aud,
      name,
      uid,
    })
    expect(server.log.join('\n')).not.toContain(answer.json.access_token.split('.')[2])
  })
})

const devAudience = () => `${server.base}/virtualclusters/p-shop/dev/${devUid}`

describe('bad targets', () => {
  const unknown = 'is not known'
  // threat: exchange-43
  test.each([
    [{ audience: 'clusters/prod', resource: 'https://x/clusters/prod' }, 'invalid_target', 'both given'],
    [{ audience: '' }, 'invalid_request', 'the parameter audience is empty'],
    [{ resource: '' }, 'invalid_request', 'the parameter resource is empty'],
    [{ ...toProd, scope: '' }, 'invalid_request', 'the parameter scope is empty'],
    [{ scope: '' }, 'invalid_request', 'the parameter scope is empty'],
    [{ audience: 'prod' }, 'invalid_target', unknown],
    [{ audience: 'Clusters/prod' }, 'invalid_target', unknown],
    [{ audience: 'clusters/PROD' }, 'invalid_target', unknown],
    [{ audience: 'clusters/*' }, 'invalid_request', 'application/yaml;as=KubeConfig'],
    [{ audience: 'clusters%2Fprod' }, 'invalid_target', unknown],
    [{ audience: 'clusters/prod/' }, 'invalid_target', unknown],
    [{ audience: ' clusters/prod' }, 'invalid_target', unknown],
    [{ audience: 'clusters/prod clusters/staging' }, 'invalid_target', unknown],
    [{ audience: 'clusters/__proto__' }, 'invalid_target', unknown],
    [{ audience: 'spaces/shop/web' }, 'invalid_target', unknown],
    [{ audience: 'virtualclusters/shop' }, 'invalid_target', unknown],
    [{ audience: 'virtualclusters//dev' }, 'invalid_target', unknown],
    [{ audience: 'virtualclusters/shop/dev/extra' }, 'invalid_target', unknown],
    [{ audience: `clusters/${'a'.repeat(10_000)}` }, 'invalid_target', unknown],
    [{ resource: 'clusters/prod' }, 'invalid_target', unknown],
    [{ resource: 'https://other.example.com/clusters/prod' }, 'invalid_target', unknown],
    [{ audience: 'virtualclusters/unknown/dev' }, 'invalid_target', 'may not have a token for'],
    [{ audience: 'virtualclusters/shop/missing' }, 'invalid_target', 'may not have a token for'],
    [{ audience: 'virtualclusters/shop/closed' }, 'invalid_target', 'may not have a token for'],
    [{ audience: 'clusters/staging' }, 'invalid_target', 'may not have a token for clusters/staging'],
    [{ ...toProd, scope: 'role:agent' }, 'invalid_scope', 'role:agent'],
    [
      { ...toProd, requested_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
      'invalid_request',
      tokenType,
    ],
    [{ requested_token_type: tokenType }, 'invalid_request', 'without audience or resource'],
  ])('number %# are refused in words, write nothing and leave the ID token usable', async (parameters, error, why) => {
    const before = await countKeys()
    const token = federation.sign()
    const answer = await federation.exchange(once, token, parameters)
    expect(errorOf(answer)).toEqual([400, error, expect.stringContaining(why)])
    expect(await countKeys()).toBe(before)
    expect((await federation.exchange(once, token, toProd)).status).toBe(200)
  })

  test('a kube config without a target is refused, and so is one of a cluster without an object', async () => {
    const accept = { accept: 'application/yaml;as=KubeConfig' }
    expect(errorOf(await ask({}, accept))).toEqual([400, 'invalid_request', expect.stringContaining('needs a target')])
    const client = await federation.trust('everywhere', { scope: { clusters: [{ cluster: '*' }] } })
    const answer = await federation.exchange(client, federation.sign(), { audience: 'clusters/none' }, accept)
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.stringContaining('may not have a token for')])
  })

  // threat: exchange-43
  test('what does not exist and what may not be used have one text', async () => {
    const used = federation.sign()
    await federation.exchange(once, used, toProd)
    for (const token of [() => federation.sign(), () => used]) {
      const texts = await Promise.all(
        ['missing', 'closed'].map(async (name) => {
          const answer = await federation.exchange(once, token(), { audience: `virtualclusters/shop/${name}` })
          return answer.json.error_description.replace(name, 'NAME')
        }),
      )
      expect(new Set(texts).size).toBe(1)
    }
  })

  test('a virtual cluster that was deleted and made again is another resource', async () => {
    const other = devAudience().replace(devUid, '00000000-0000-4000-8000-000000000000')
    expect(errorOf(await ask({ resource: other }))[1]).toBe('invalid_target')
  })

  // threat: exchange-43
  test('scopes of reviewing agents give no token for the cluster that they name', async () => {
    const client = await federation.trust('agent', {
      scope: { roles: [{ role: 'agent' }], clusters: [{ cluster: 'prod' }] },
    })
    const answer = await federation.exchange(client, federation.sign(), toProd)
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.any(String)])
  })
})

describe('a trust whose rules are about requests inside of a cluster', () => {
  const rule = { verbs: ['get'], resources: [{ resources: ['pods'] }] }
  const rules = [
    { ...rule, requestTargets: ['Cluster'], cluster: 'prod' },
    { ...rule, requestTargets: ['ProjectVirtualCluster'], virtualClusters: [{ name: 'dev', namespace: 'p-shop' }] },
  ]
  const kubeConfig = { accept: 'application/yaml;as=KubeConfig' }
  const forms: Record<string, string>[] = [
    {},
    { accept: 'text/plain' },
    { accept: 'application/json;as=ExecCredential;v=v1;g=client.authentication.k8s.io' },
    kubeConfig,
  ]
  let narrow: string

  beforeAll(async () => {
    narrow = await federation.trust('narrow', { scope: { rules }, tokensOnly: true })
  })

  // threat: exchange-43
  test.each(['clusters/prod', 'virtualclusters/shop/dev'])(
    'gives a token for %s in all forms, which the rules limit',
    async (audience) => {
      for (const headers of forms) {
        const answer = await federation.exchange(narrow, federation.sign(), { audience }, headers)
        expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
        const [token = ''] = /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(answer.text) ?? []
        const { aud, 'management.platform': claim } = await claimsOf(token)
        expect(aud).toEqual([audience === 'clusters/prod' ? `${server.base}/clusters/prod` : devAudience()])
        expect(JSON.parse(claim.scopes)[0]).toEqual({ rules })
      }
    },
  )

  // threat: exchange-43
  test('gives none for others, and the record alone names the entry that is missing, whatever the form', async () => {
    for (const headers of forms) {
      const answer = await federation.exchange(narrow, federation.sign(), { audience: 'clusters/staging' }, headers)
      expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.not.stringContaining('{')])
      const missing = ['spec.scope: {"clusters":[{"cluster":"staging"}]}']
      expect(server.auditOf(answer)).toMatchObject({ reason: 'target', missing })
    }
  })
})

describe('a trust with tokensOnly', () => {
  // threat: exchange-30
  test('gives tokens and no keys', async () => {
    const client = await federation.trust('tokens', { scope, tokensOnly: true })
    const answer = await federation.exchange(client, federation.sign())
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.stringContaining('spec.tokensOnly')])
    expect(server.auditOf(answer).reason).toBe('target_required')
    expect((await federation.exchange(client, federation.sign(), toProd)).status).toBe(200)
  })

  test('ends the keys of earlier exchanges', async () => {
    const client = await federation.trust('becoming', { scope })
    const { json } = await federation.exchange(client, federation.sign())
    const self = () => server.post(`${management}/selves`, {}, json.access_token)
    expect((await self()).status).toBe(201)
    await server.patch(`${trusts}/becoming`, { spec: { tokensOnly: true } })
    expect((await self()).status).toBe(401)
  })
})

describe('the key of a token', () => {
  // threat: exchange-30
  test('belongs to nobody: no verb of an administrator gives it a value, and it cannot be extended', async () => {
    const { json } = await ask(toProd)
    const { name } = keyIn(json.access_token)
    const path = `${keys}/${name}`
    const attempts: [number, Promise<Answer>][] = [
      [422, server.post(`${path}/rotate`, { apiVersion, kind: 'OwnedAccessKeyRotation' })],
      [422, server.patch(path, { spec: { key: 'my-very-own-secret-value-0123456789' } })],
      [403, server.patch(path, { spec: { ttl: 86_400 } })],
      [403, server.patch(path, { spec: { ttlAfterLastActivity: true } })],
      [403, server.patch(path, { spec: { scope: { roles: [] } } })],
    ]
    for (const [expected, attempt] of attempts) {
      const { status, text } = await attempt
      expect([status, text]).toEqual([expected, expect.any(String)])
    }
    expect((await server.post(`${management}/selves`, {}, json.access_token)).status).toBe(401)
  })

  test('ends with its token: disabled or deleted, no review accepts the token', async () => {
    const { json } = await ask(toProd)
    const { name } = keyIn(json.access_token)
    expect((await server.patch(`${keys}/${name}`, { spec: { disabled: true } })).status).toBe(200)
    expect((await server.call(`${keys}/${name}`, { method: 'DELETE' })).status).toBe(200)
  })
})

describe('a revocation of a token', () => {
  const revoke = (token: string) => sendForm(server, revokePath, new URLSearchParams({ token }).toString())
  const exists = async (token: string) => (await server.call(`${keys}/${keyIn(token).name}`)).status === 200

  test('deletes its key, and says nothing else about other tokens', async () => {
    const { json } = await ask(toProd)
    const token = json.access_token
    const [header = '', payload = '', signature = ''] = token.split('.')
    const forged = [header, payload, Buffer.from(signature, 'base64url').reverse().toString('base64url')].join('.')
    for (const other of [forged, federation.sign(), `${header}.${payload}.`, 'a.b.c']) {
      const answer = await revoke(other)
      expect([answer.status, server.auditOf(answer).reason]).toEqual([200, 'nothing_revoked'])
    }
    expect(await exists(token)).toBe(true)
    expect(server.auditOf(await revoke(token)).reason).toBe('revoked')
    expect(await exists(token)).toBe(false)
    expect(server.auditOf(await revoke(token)).reason).toBe('nothing_revoked')
  })

  test('that has expired ends nothing', async () => {
    const { json } = await ask(toProd)
    const token = json.access_token
    const revokeAt = (now: Date) => {
      const call = { requestId: 'r', headers: {}, form: new Map([['token', token]]), now, deadline: endless }
      return revokeToken({ ...call, note: () => undefined }, server.parts)
    }
    const { exp = 0 } = decodeJwt(token)
    expect((await revokeAt(new Date(exp * 1000))).outcome).toBe('nothing_revoked')
    expect(await exists(token)).toBe(true)
    expect((await revokeAt(new Date((exp - 1) * 1000))).outcome).toBe('revoked')
  })

  test('leaves a key of an exchange that may do more', async () => {
    const { json } = await ask({})
    const scope = { clusters: [{ cluster: 'prod' }] }
    const body = { apiVersion, kind: 'DirectClusterEndpointToken', spec: { scope } }
    const made = await server.post(`${management}/directclusterendpointtokens`, body, json.access_token)
    const { token } = made.json.status
    expect([made.status, server.auditOf(await revoke(token)).reason]).toEqual([201, 'nothing_revoked'])
    expect(await exists(token)).toBe(true)
  })

  test('leaves a key that no exchange made', async () => {
    const { spec } = await server.make(keys, {
      apiVersion,
      kind: 'OwnedAccessKey',
      metadata: { name: 'lasting' },
      spec: {},
    })
    const made = await server.post(
      `${management}/directclusterendpointtokens`,
      { apiVersion, kind: 'DirectClusterEndpointToken', spec: { scope: { clusters: [{ cluster: 'prod' }] } } },
      spec.key,
    )
    const answer = await revoke(made.json.status.token)
    expect([made.status, server.auditOf(answer).reason]).toEqual([201, 'nothing_revoked'])
    expect(await exists(made.json.status.token)).toBe(true)
  })
})

describe('an equal exchange during the life of an ID token', () => {
  const tokenIn = ({ json, text }: Answer) => {
    expect([json.access_token !== undefined, text]).toEqual([true, expect.any(String)])
    return json.access_token
  }

  test('signs another token for the same key, with at most 4 reads and no write', async () => {
    for (const audience of ['clusters/prod', 'virtualclusters/shop/dev']) {
      const token = ciToken()
      const first = tokenIn(await federation.exchange(lifetime, token, { audience }))
      const before = await countKeys()
      const again = await federation.exchange(lifetime, token, { audience })
      expect(keyIn(tokenIn(again))).toEqual(keyIn(first))
      expect(decodeJwt(tokenIn(again)).jti).not.toBe(decodeJwt(first).jti)
      expect(decodeJwt(tokenIn(again)).exp).toBe(decodeJwt(first).exp)
      expect(await countKeys()).toBe(before)
      const { storageCalls, kmsCalls } = server.auditOf(again)
      expect([storageCalls, kmsCalls]).toEqual([4, 1])
    }
  })

  test('is not equal with another target, scope, trust, or ID token', async () => {
    const token = ciToken()
    const other = await trustOf('ci-other')
    const asked: [string, string, Parameters][] = [
      [lifetime, token, toProd],
      [lifetime, token, { audience: 'virtualclusters/shop/dev' }],
      [lifetime, token, { ...toProd, scope: 'cluster:prod' }],
      [lifetime, ciToken(), toProd],
      [other, token, toProd],
    ]
    const uids = new Set<string>()
    for (const [client, subject, more] of asked)
      uids.add(keyIn(tokenIn(await federation.exchange(client, subject, more))).uid)
    expect(uids.size).toBe(asked.length)
  })

  test('gets a new key after the trust was narrowed', async () => {
    const client = await trustOf('ci-narrowed')
    const token = ciToken()
    const first = keyIn(tokenIn(await federation.exchange(client, token, toProd)))
    await server.patch(`${trusts}/ci-narrowed`, {
      spec: { scope: { clusters: [{ cluster: 'prod' }], virtualClusters: [] } },
    })
    const second = keyIn(tokenIn(await federation.exchange(client, token, toProd)))
    expect(second.uid).not.toBe(first.uid)
  })

  // threat: exchange-42
  test.each(['DELETE', 'PATCH', 'revoke', 'bulk'])(
    'never gets another key after the first was ended by %s',
    async (how) => {
      const token = ciToken()
      const first = tokenIn(await federation.exchange(lifetime, token, toProd))
      const path = `${keys}/${keyIn(first).name}`
      if (how === 'DELETE') await server.call(path, { method: 'DELETE' })
      if (how === 'PATCH') await server.patch(path, { spec: { disabled: true } })
      if (how === 'revoke') await sendForm(server, revokePath, new URLSearchParams({ token: first }).toString())
      if (how === 'bulk') {
        const selection = { ownedAccessKeys: { names: [keyIn(first).name] } }
        const done = await server.post(`${management}/accesskeyrevocations`, {
          apiVersion,
          kind: 'AccessKeyRevocation',
          spec: { names: selection.ownedAccessKeys.names, action: 'Delete' },
        })
        if (done.status >= 400) throw new Error(done.text)
      }
      for (const more of [
        toProd,
        { ...toProd, scope: 'cluster:prod' },
        { resource: `${server.base}/clusters/prod` },
        {},
      ]) {
        const answer = await federation.exchange(lifetime, token, more)
        expect(errorOf(answer)).toEqual([400, 'invalid_request', expect.stringContaining('was ended')])
        expect(server.auditOf(answer).reason).toBe('ended')
      }
      // Another target, and another ID token, are not concerned.
      expect((await federation.exchange(lifetime, token, { audience: 'virtualclusters/shop/dev' })).status).toBe(200)
      expect((await federation.exchange(lifetime, ciToken(), toProd)).status).toBe(200)
    },
  )

  test('is refused while the trust is disabled, and afterwards: what it gave stays dead', async () => {
    const client = await trustOf('ci-closing')
    const token = ciToken()
    tokenIn(await federation.exchange(client, token, toProd))
    await server.patch(`${trusts}/ci-closing`, { spec: { disabled: true } })
    expect((await federation.exchange(client, token, toProd)).status).toBe(400)
    await server.patch(`${trusts}/ci-closing`, { spec: { disabled: false } })
    expect(server.auditOf(await federation.exchange(client, token, toProd)).reason).toBe('ended')
    tokenIn(await federation.exchange(client, ciToken(), toProd))
  })

  test('64 at the same time make one key', async () => {
    const token = ciToken()
    const before = await countKeys()
    const answers = await Promise.all(Array.from({ length: 64 }, () => federation.exchange(lifetime, token, toProd)))
    const uids = new Set(answers.filter(({ status }) => status === 200).map((one) => keyIn(tokenIn(one)).uid))
    expect(uids.size).toBe(1)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
    expect(await countKeys()).toBe(before + 1)
    const [limited] = answers.filter(({ status }) => status === 429)
    expect([limited?.json.error, Number(limited?.headers['retry-after'])]).toEqual([
      'temporarily_unavailable',
      expect.any(Number),
    ])
  })

  describe('as time passes', () => {
    const issued = Math.floor(Date.now() / 1000)
    /** Exchanges with the clock at some minutes after the token was issued. */
    async function at(minutes: number, token: string, client = lifetime) {
      const form = new Map(new URLSearchParams(exchangeForm(client, token, toProd)))
      const now = new Date((issued + minutes * 60) * 1000)
      const call = { requestId: '', headers: {}, form, now, deadline: endless, note: () => undefined }
      const parts = Object.create(server.parts, exchangeParts(server.parts.storage))
      const { response } = await exchange(call, parts)
      return keyIn(JSON.parse(String(response.body)).access_token)
    }

    test.each([0, 7, 29])('keeps a key made after %i minutes until half of its life is over', async (start) => {
      const token = ciToken({ iat: issued, exp: issued + 7200 })
      const first = await at(start, token)
      expect(await at(start + 15, token)).toEqual(first)
      expect(await at(start + 30, token)).toEqual(first)
      const second = await at(start + 31, token)
      expect(second).not.toEqual(first)
      expect(await at(start + 60, token)).toEqual(second)
      expect(await at(start + 90, token)).not.toEqual(second)
    })

    // threat: exchange-42
    test('never gives another key after one was ended, also when that one would have expired', async () => {
      const token = ciToken({ iat: issued, exp: issued + 7200 })
      const { name } = await at(0, token)
      await server.call(`${keys}/${name}`, { method: 'DELETE' })
      for (const minutes of [1, 31, 61, 100]) await expect(at(minutes, token)).rejects.toThrow(OAuthError)
    })
  })
})

describe('a cluster whose service accounts issue the tokens', () => {
  /** Starts a cluster and registers it, with a trust in jobs that are exchanged once, and one for the life of the ID token. */
  async function begin(isVirtual = false) {
    const cluster = await startAccountCluster()
    cluster.accounts.add('keyplane/team.shop')
    cluster.accounts.add('keyplane/user.admin')
    const { name } = cluster
    if (isVirtual) {
      await server.services.setSecret(`keyplane/local/virtualclusters/p-shop/${name}`, cluster.kubeConfig)
      const spec = { tokens: 'ServiceAccounts', access, accessPoint: { ingress: { host: `${name}.example.com` } } }
      const metadata = { name, namespace: 'p-shop' }
      const path = `${management}/namespaces/p-shop/virtualclusterinstances`
      await server.make(path, { apiVersion, kind: 'VirtualClusterInstance', metadata, spec })
    } else {
      await server.services.setSecret(`keyplane/local/clusters/${name}`, cluster.kubeConfig)
      const spec = { server: `https://${name}.example.com`, tokens: 'ServiceAccounts', access }
      await server.make(`${management}/clusters`, { apiVersion, kind: 'Cluster', metadata: { name }, spec })
    }
    const scope = isVirtual
      ? { virtualClusters: [{ project: 'shop', virtualCluster: name }] }
      : { clusters: [{ cluster: name }] }
    const target = { audience: isVirtual ? `virtualclusters/shop/${name}` : `clusters/${name}` }
    return { cluster, name, target, scope, client: await federation.trust(name, { scope }) }
  }
  const secretsOf = (cluster: AccountCluster) => cluster.secrets.size

  test.each([false, true])(
    'gives a token of the account, with a warning, in each form (virtual: %s)',
    async (isVirtual) => {
      const { cluster, target, client } = await begin(isVirtual)
      const answer = await federation.exchange(client, federation.sign(), target)
      expect([answer.status, answer.json]).toEqual([
        200,
        {
          access_token: expect.any(String),
          issued_token_type: tokenType,
          token_type: 'Bearer',
          expires_in: expect.any(Number),
        },
      ])
      expect(cluster.accepts(answer.json.access_token)).toBe(true)
      expect(String(answer.headers.warning)).toContain('scopes of the access key are not enforced')
      const accept = { accept: 'application/yaml;as=KubeConfig' }
      const whole = await federation.exchange(client, federation.sign(), target, accept)
      // biome-ignore lint/suspicious/noExplicitAny: a document.
      expect(cluster.accepts((load(whole.text) as any).users[0].user.token)).toBe(true)
      expect(server.auditOf(answer)).toMatchObject({ credential: 'token', account: 'team.shop' } as object as never)
    },
  )

  test('asks once more for an equal request, with one request to the cluster', async () => {
    const { cluster, scope, target, name } = await begin()
    const client = await trustOf(`lasting-${name}`, { scope, team: 'shop' })
    const token = ciToken()
    const [first, again] = [
      await federation.exchange(client, token, target),
      await federation.exchange(client, token, target),
    ]
    expect([first.status, again.status, secretsOf(cluster), cluster.calls.length]).toEqual([200, 200, 1, 3])
  })

  test('is refused for scopes that the cluster cannot enforce, and for a key that lives less than ten minutes', async () => {
    const { cluster, name, target, scope } = await begin()
    const rules = [
      { requestTargets: ['Cluster'], cluster: name, verbs: ['get'], resources: [{ group: '', resources: ['pods'] }] },
      {
        requestTargets: ['Management'],
        verbs: ['create'],
        resources: [{ group: 'management.platform', resources: ['clusters/kubeconfig'] }],
      },
    ]
    const narrow = await federation.trust(`narrow-${name}`, { scope: { rules } })
    const asked = await federation.exchange(narrow, federation.sign(), target)
    expect(errorOf(asked)).toEqual([
      400,
      'invalid_target',
      expect.stringContaining('a service account cannot be scoped'),
    ])
    const short = await federation.trust(`short-${name}`, { scope, ttl: 300 })
    const answer = await federation.exchange(short, federation.sign(), target)
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.stringContaining('600 seconds')])
    expect(secretsOf(cluster)).toBe(0)
  })

  test('gives the ID token back when the cluster fails or lacks the account, and leaves neither key nor Secret', async () => {
    const { cluster, target, client } = await begin()
    const token = federation.sign()
    const before = await countKeys()
    cluster.plays.token = ({ answer }) => answer(500, { kind: 'Status', status: 'Failure', code: 500 })
    const failed = await federation.exchange(client, token, target)
    expect([failed.status, failed.json.error, server.auditOf(failed).reason]).toEqual([
      503,
      'temporarily_unavailable',
      'cluster',
    ])
    cluster.plays = {}
    cluster.accounts.delete('keyplane/team.shop')
    const missing = await federation.exchange(client, token, target)
    expect(errorOf(missing)).toEqual([400, 'invalid_target', expect.stringContaining('kubectl create serviceaccount')])
    expect([await countKeys(), secretsOf(cluster)]).toEqual([before, 0])
    cluster.accounts.add('keyplane/team.shop')
    const answers = await Promise.all(Array.from({ length: 8 }, () => federation.exchange(client, token, target)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    expect(await countKeys()).toBe(before + 1)
    // An access key is not given for it: that exchange was never made.
    expect(server.auditOf(await federation.exchange(client, token)).reason).toBe('replayed')
  })

  describe('a revocation', () => {
    const revoke = (token: string): Promise<Answer> => {
      const form = new URLSearchParams({ token }).toString()
      return whileFunctionsRun(sendForm(server, revokePath, form, { accept: 'application/json' }))
    }
    const parts = (token: string) => token.split('.') as [string, string, string]
    const changed = (token: string, edit: (claims: JWTPayload & Record<string, object>) => object): string => {
      const [header, , signature] = parts(token)
      const claims = edit(decodeJwt(token) as JWTPayload & Record<string, object>)
      return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
    }

    test('ends the token and its key, and a second one is no failure', async () => {
      const { cluster, target, client } = await begin()
      const { json } = await federation.exchange(client, federation.sign(), target)
      const before = await countKeys()
      const answer = await revoke(json.access_token)
      expect([answer.status, answer.json]).toEqual([200, { revoked: true }])
      expect(server.auditOf(answer)).toMatchObject({ reason: 'revoked', name: expect.any(String), user: 'team:shop' })
      expect([cluster.accepts(json.access_token), secretsOf(cluster), await countKeys()]).toEqual([
        false,
        0,
        before - 1,
      ])
      const again = await revoke(json.access_token)
      expect([again.status, again.text, server.auditOf(again).reason]).toEqual([200, '', 'nothing_revoked'])
    })

    test('that dies between the end of the key and that of its Secret is completed by the next one', async () => {
      const { cluster, target, client } = await begin()
      const { json } = await federation.exchange(client, federation.sign(), target)
      const { serviceAccounts } = server.parts
      const records = { ...serviceAccounts.records, revoke: () => Promise.reject(new Error('killed')) }
      const mortal = Object.create(server.parts, { serviceAccounts: { value: { ...serviceAccounts, records } } })
      const form = new Map([['token', json.access_token]])
      const call = { requestId: 'r', headers: {}, form, now: new Date(), deadline: endless, note: () => undefined }
      const before = await countKeys()
      await expect(revokeToken(call, mortal)).rejects.toThrow('killed')
      expect([await countKeys(), cluster.accepts(json.access_token)]).toEqual([before - 1, true])
      expect((await revoke(json.access_token)).status).toBe(200)
      expect(cluster.accepts(json.access_token)).toBe(false)
    })

    test('names a cluster that has not confirmed it', async () => {
      const { cluster, name, target, client } = await begin()
      const { json } = await federation.exchange(client, federation.sign(), target)
      cluster.plays.delete = ({ response }) => void response.socket?.destroy()
      expect((await revoke(json.access_token)).json).toEqual({ revoked: true, unconfirmed: [name] })
      expect(cluster.accepts(json.access_token)).toBe(true)
    })

    test('ends no more than the token of a key that may do more', async () => {
      const { cluster, name } = await begin()
      const { spec } = await server.make(keys, {
        apiVersion,
        kind: 'OwnedAccessKey',
        metadata: { name: `wide-${name}` },
        spec: { team: 'shop' },
      })
      const path = `${management}/clusters/${name}/kubeconfig`
      const body = { apiVersion, kind: 'ClusterKubeConfig', spec: {} }
      const made = await server.post(path, body, spec.key)
      // biome-ignore lint/suspicious/noExplicitAny: a document.
      const { token } = (load(made.json.status.kubeConfig) as any).users[0].user
      expect((await revoke(token)).json).toEqual({ revoked: true })
      expect(cluster.accepts(token)).toBe(false)
      expect((await server.post(path, body, spec.key)).status).toBe(201)
    })

    // threat: exchange-33
    test('ends nothing for a token that somebody made up, or that has expired', async () => {
      const { cluster, target, client } = await begin()
      const { json } = await federation.exchange(client, federation.sign(), target)
      const token: string = json.access_token
      const withSecret = (more: object) =>
        changed(token, ({ 'kubernetes.io': bound = {}, ...claims }) => {
          const { secret, ...rest } = bound as { secret?: object }
          return { ...claims, 'kubernetes.io': { ...rest, secret: { ...secret, ...more } } }
        })
      const foreign = [
        withSecret({ uid: randomUUID() }),
        withSecret({ uid: '' }),
        withSecret({ name: `keyplane-${randomUUID()}-01234567` }),
        withSecret({ name: 'default-token' }),
        changed(token, ({ 'kubernetes.io': _, ...claims }) => ({ ...claims, 'kubernetes.io': { namespace: 'x' } })),
      ]
      for (const one of foreign) {
        const answer = await revoke(one)
        expect(errorOf(answer)).toEqual([
          400,
          'unsupported_token_type',
          expect.stringContaining('not for this service'),
        ])
        expect(server.auditOf(answer).reason).toBe('foreign_token')
      }
      const ended = [
        changed(token, (claims) => ({ ...claims, exp: Number(claims.iat) - 1 })),
        changed(withSecret({ uid: randomUUID() }), (claims) => ({ ...claims, exp: 1 })),
        changed(token, (claims) => ({ ...claims, exp: 2 ** 53 })),
      ]
      for (const one of ended) expect((await revoke(one)).text).toBe('')
      expect(cluster.accepts(token)).toBe(true)
    })
  })

  test.each([
    ['at a time that no clock has', -(2 ** 53)],
    ['in the year 275761', 8_640_000_000_001],
    ['in the past', 1_000_000],
  ])('answers no token that expires %s, and gives the ID token back', async (_, exp) => {
    const { cluster, target, client } = await begin()
    const token = federation.sign()
    cluster.plays.token = ({ answer, body }) => {
      const { name } = body.spec.boundObjectRef
      const uid = cluster.secrets.get(`keyplane/${name}`)?.uid
      const bound = { namespace: 'keyplane', secret: { name, uid }, serviceaccount: { name: 'team.shop' } }
      answer(201, { ...body, status: { token: encodeToken({ iat: exp - 600, exp, 'kubernetes.io': bound }) } })
    }
    const failed = await federation.exchange(client, token, target)
    expect([failed.status, server.auditOf(failed).reason]).toEqual([503, 'cluster'])
    cluster.plays = {}
    expect((await federation.exchange(client, token, target)).status).toBe(200)
  })

  test('refuses the token after the key was ended', async () => {
    await publishEvents()
    const { cluster, target, client } = await begin()
    const answer = await federation.exchange(client, federation.sign(), target)
    await server.call(`${keys}/${server.auditOf(answer).name}`, { method: 'DELETE' })
    await publishEvents()
    await endSecrets()
    expect(cluster.accepts(answer.json.access_token)).toBe(false)
  })
})

test('the metrics count exchanges with a target by its kind and outcome as well, and signatures', async () => {
  const measured = (answer: Answer) => {
    const { exchange: outcome, exchanges, targeted, targetedExchanges, kmsCalls } = server.auditOf(answer)
    return [outcome, exchanges, targeted, targetedExchanges, kmsCalls]
  }
  expect(measured(await ask(toProd))).toEqual(['granted', 1, 'clusters.granted', 1, 1])
  const closed = await ask({ audience: 'virtualclusters/shop/closed' })
  expect(measured(closed)).toEqual(['refused', 1, 'virtualclusters.refused', 1, 0])
  expect(measured(await ask({}))).toEqual(['granted', 1, undefined, undefined, 0])
})
