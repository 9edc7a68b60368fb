/**
 * Attacks the token endpoint through the gateway, each with its exact answer. Whatever is wrong before the signature and the
 * tenancy have held has one and the same text. docs/threat-model.md quotes the names of these tests.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { revoke as revokeKey } from '../../lib/server/oauth/revoke.ts'
import { randomFrom } from '../lib/storage/adversary/simulation.ts'
import { endless } from '../support/deadlines.ts'
import {
  claimsOf,
  clientOf,
  exchangeForm,
  type Federation,
  provider,
  providers,
  revokePath,
  sendForm,
  startFederation,
  tokenPath,
  trust,
  trusts,
} from '../support/federation.ts'
import { type IssuerKey, makeIssuerKey } from '../support/issuerkey.ts'
import { accessKey, keys, management } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let federation: Federation
/** The `client_id` of a trust of repository 74. */
let client: string
/** Another key of the issuer's form, which no provider has. */
let stranger: IssuerKey
beforeAll(async () => {
  server = await startServer({}, { unthrottled: true })
  federation = await startFederation(server)
  client = await federation.trust('shop-deploy')
  stranger = makeIssuerKey('RS256', federation.issuer.key.kid)
}, 120_000)
afterAll(async () => {
  await federation?.close()
  await server?.stop()
})

const generic = 'the subject token is not accepted for this client_id'
const merge = { 'content-type': 'application/merge-patch+json' }

// biome-ignore lint/suspicious/noExplicitAny: records are JSON of every shape.
function recordOf({ headers }: Answer): any {
  const lines = server.log.map((line) => JSON.parse(line))
  return lines.find(({ message, requestId }) => message === 'audit' && requestId === headers['audit-id'])
}

/** Checks the whole answer of a refusal, and its audit record. */
function expectRefusal(answer: Answer, description: string, reason: string, error = 'invalid_request') {
  expect([answer.status, answer.json]).toEqual([400, { error, error_description: description }])
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json;charset=UTF-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
    warning: `299 - "${description}"`,
  })
  expect(recordOf(answer)).toMatchObject({ decision: 'deny', reason, code: 400 })
}

const patch = (path: string, spec: object) => server.call(path, { method: 'PATCH', body: { spec }, headers: merge })

/** Encodes parts of a token, which may be texts of any form. */
const encode = (...parts: (string | object)[]) =>
  parts
    .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
    .join('.')

describe('with the one text for everything that nobody has proved yet', () => {
  const refuses = (answer: Answer, reason: string) => expectRefusal(answer, generic, reason)
  const tries = (token: string, id = client) => federation.exchange(id, token)

  test('refuses a client_id that nobody has, after one read', async () => {
    const answer = await tries(federation.sign(), `nobody@${client.split('@')[1]}`)
    refuses(answer, 'unknown_client')
    expect(recordOf(answer).storageCalls).toBe(1)
  })

  test('refuses a trust that was deleted and made again by another under its name', async () => {
    const before = await federation.trust('reborn')
    await server.call(`${trusts}/reborn`, { method: 'DELETE' })
    const after = await federation.trust('reborn')
    refuses(await tries(federation.sign(), before), 'uid_mismatch')
    expect((await tries(federation.sign(), after)).status).toBe(200)
  })

  test('refuses a disabled trust, and one that is being deleted', async () => {
    const id = await federation.trust('closed', { disabled: true })
    refuses(await tries(federation.sign(), id), 'client_disabled')
    await patch(`${trusts}/closed`, { disabled: false })
    const body = { metadata: { finalizers: ['example.com/x'] } }
    await server.call(`${trusts}/closed`, { method: 'PATCH', body, headers: merge })
    await server.call(`${trusts}/closed`, { method: 'DELETE' })
    refuses(await tries(federation.sign(), id), 'client_disabled')
  })

  test('refuses a disabled provider, and one that was deleted and made again under its name', async () => {
    const { issuer } = federation
    const spec = { issuer: 'https://ci.example.com', type: 'OIDC', jwks: issuer.jwks() }
    await server.make(providers, provider('private', spec))
    const claims = [{ claim: 'sub', values: ['job'] }]
    const id = await federation.trust('private', { identityProvider: 'private', claims })
    const sign = () => issuer.sign({ iss: spec.issuer, aud: server.base, jti: String(Math.random()) })
    expect((await tries(sign(), id)).status).toBe(200)
    await patch(`${providers}/private`, { disabled: true })
    refuses(await tries(sign(), id), 'provider_disabled')
    const hold = (finalizers: string[]) =>
      server.call(`${providers}/private`, { method: 'PATCH', body: { metadata: { finalizers } }, headers: merge })
    await patch(`${providers}/private`, { disabled: false })
    await hold(['example.com/x'])
    await server.call(`${providers}/private`, { method: 'DELETE' })
    refuses(await tries(sign(), id), 'provider_disabled')
    await hold([])
    refuses(await tries(sign(), id), 'provider_missing')
    await server.make(providers, provider('private', spec))
    refuses(await tries(sign(), id), 'provider_missing')
  })

  test.each([
    'https://token.actions.githubusercontent.com/',
    'https://token.actions.githubusercontent.com.evil.example',
    'https://ghes.example.com/_services/token',
    'https://TOKEN.actions.githubusercontent.com',
  ])('refuses the same claims from issuer %s', async (iss) => {
    refuses(await tries(federation.sign({ iss })), 'issuer')
  })

  test.each(['sts.amazonaws.com', 'pypi', 'https://keys.example.com/test/kubernetes/management', ''])(
    'refuses a token for audience %j',
    async (aud) => {
      const answer = await tries(federation.sign({ aud }))
      if (aud === '') expect(recordOf(answer).reason).toBe('malformed')
      else refuses(answer, 'audience')
    },
  )

  test('refuses an algorithm that the provider does not list', async () => {
    const key = makeIssuerKey('PS256', 'other')
    refuses(await tries(federation.sign({}, { key })), 'algorithm')
  })

  test("refuses a token that another key signed, with the key id of the issuer's", async () => {
    refuses(await tries(federation.sign({}, { key: stranger })), 'signature')
  })

  test.each(['../../etc/passwd', "' OR 1=1 --", 'x'.repeat(8192), '', '__proto__'])(
    'compares the key id %j as text only',
    async (kid) => {
      refuses(await tries(federation.sign({}, { key: stranger, header: { kid } })), 'signature')
    },
  )

  test('refuses a token whose key does not fit its algorithm', async () => {
    const key = makeIssuerKey('ES256', federation.issuer.key.kid)
    refuses(await tries(federation.sign({}, { key })), 'signature')
  })

  test('refuses a token whose payload or signature was changed', async () => {
    const [header = '', payload = '', signature = ''] = federation.sign().split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const forged = encode({ ...claims, repository_id: '74', environment: 'production' })
    refuses(await tries([header, forged, signature].join('.')), 'signature')
    const flipped = Buffer.from(signature, 'base64url')
    flipped[7] = (flipped[7] ?? 0) ^ 1
    refuses(await tries([header, payload, flipped.toString('base64url')].join('.')), 'signature')
  })

  test.each(['github.otherrepository', 'github.renamed'])(
    'refuses the repository of another tenant: %s',
    async (fixture) => {
      const answer = await tries(federation.sign(await claimsOf(fixture)))
      expect(answer.json.error_description).toBe(generic)
      expect(recordOf(answer).reason).toMatch(/^(tenancy|provider_claims)$/)
    },
  )

  test('refuses a repository that took the name of a deleted one', async () => {
    refuses(await tries(federation.sign({ repository_id: '99' })), 'tenancy')
    refuses(await tries(federation.sign({ repository_owner_id: '99' })), 'provider_claims')
  })

  test("refuses a fork's merge request at GitLab, whose project is the fork's", async () => {
    const issuer = 'https://gitlab.com'
    const claims = await claimsOf('gitlab.forkmergerequest')
    const target = await claimsOf('gitlab.branch')
    const binding = (id: unknown) => [{ claim: 'project_id', values: [String(id)] }]
    const spec = { issuer, jwks: federation.issuer.jwks(), claims: binding(target.project_id) }
    await server.make(providers, provider('gitlab', spec))
    const id = await federation.trust('gitlab', { identityProvider: 'gitlab', claims: binding(target.project_id) })
    const sign = (own: object) => federation.issuer.sign({ ...own, aud: server.base })
    refuses(await tries(sign(claims), id), 'provider_claims')
    expect((await tries(sign(target), id)).status).toBe(200)
  })

  test('refuses a token of another cluster with the same issuer URL', async () => {
    const issuer = 'https://kubernetes.default.svc.cluster.local'
    const other = makeIssuerKey('RS256', 'other')
    for (const [name, jwks] of [
      ['blue', federation.issuer.jwks()],
      ['green', JSON.stringify({ keys: [other.jwk] })],
    ] as const) {
      await server.make(providers, provider(name, { issuer, type: 'Kubernetes', jwks }))
    }
    const claims = await claimsOf('kubernetes.pod')
    const entries = [{ claim: 'sub', values: [String(claims.sub)] }]
    const blue = await federation.trust('blue', { identityProvider: 'blue', claims: entries })
    const green = await federation.trust('green', { identityProvider: 'green', claims: entries })
    const token = federation.issuer.sign({ ...claims, iss: issuer, aud: [server.base] })
    refuses(await tries(token, green), 'signature')
    expect((await tries(token, blue)).status).toBe(200)
  })

  test('refuses a token of this API for a cluster', async () => {
    const spec = { scope: { clusters: [{ cluster: 'west' }] } }
    const path = `${management}/directclusterendpointtokens`
    const { status } = await server.make(path, { spec })
    expect(await tries(status.token)).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
  })
})

describe('before it reads anything', () => {
  const claims = () => ({
    iss: 'https://i.example',
    aud: server.base,
    sub: 's',
    iat: 1_795_000_000,
    exp: 1_795_000_300,
  })
  const header = { alg: 'RS256', typ: 'JWT', kid: 'a' }
  const signed = (head: string | object, body: string | object) => encode(head, body, 'signature')
  const text = (more: string) => JSON.stringify(claims()).replace(/}$/, `,${more}}`)

  test.each<[what: string, token: () => string]>([
    ['an access key', () => server.adminKey],
    ['two parts', () => encode(header, claims())],
    ['four parts', () => `${signed(header, claims())}.x`],
    ['an encrypted token', () => encode(header, 'a', 'b', 'c', 'd')],
    ['no signature', () => `${encode(header, claims())}.`],
    ['padding', () => `${encode(header, claims())}.c2ln=`],
    ['trailing bits in base64url', () => `${encode(header, claims())}.YR`],
    ['alg none', () => signed({ ...header, alg: 'none' }, claims())],
    ['alg HS256', () => signed({ ...header, alg: 'HS256' }, claims())],
    ['no alg', () => signed({ typ: 'JWT' }, claims())],
    ['an access token', () => signed({ ...header, typ: 'at+jwt' }, claims())],
    ['a logout token', () => signed({ ...header, typ: 'logout+jwt' }, claims())],
    ['an access token that says so in its claims', () => signed(header, { ...claims(), token_use: 'access' })],
    ['crit', () => signed({ ...header, crit: ['exp'] }, claims())],
    ['b64', () => signed({ ...header, b64: false }, claims())],
    ['cty', () => signed({ ...header, cty: 'JWT' }, claims())],
    ['zip', () => signed({ ...header, zip: 'DEF' }, claims())],
    ['jku', () => signed({ ...header, jku: 'https://evil.example/keys' }, claims())],
    ['jwk', () => signed({ ...header, jwk: stranger.jwk }, claims())],
    ['x5u', () => signed({ ...header, x5u: 'https://evil.example/chain' }, claims())],
    ['x5c', () => signed({ ...header, x5c: ['MII'] }, claims())],
    ['two audiences, ours among them', () => signed(header, { ...claims(), aud: [server.base, 'other'] })],
    ['a member twice', () => signed(header, text('"sub":"other"'))],
    ['a member twice in the header', () => signed('{"alg":"RS256","alg":"none"}', claims())],
    ['an end that is 1e308', () => signed(header, text('"nbf":1e308'))],
    ['a time that is a text', () => signed(header, { ...claims(), iat: '1795000000' })],
    ['no time', () => signed(header, { ...claims(), iat: undefined })],
    ['a life of 25 hours', () => signed(header, { ...claims(), exp: claims().iat + 90_000 })],
    ['a payload that is a list', () => signed(header, '[]')],
    ['a payload that is no JSON', () => signed(header, '{"iss":')],
    [
      'a payload that is no UTF-8',
      () => `${encode(header)}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.c2ln`,
    ],
    ['a payload with 10,000 levels', () => signed(header, `{"a":${'['.repeat(5000)}`)],
    [
      '300 claims',
      () => signed(header, Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`c${index}`, 1]))),
    ],
    ['an ExecCredential', () => JSON.stringify({ kind: 'ExecCredential', status: { token: server.adminKey } })],
  ])('refuses a token with %s', async (_, token) => {
    const answer = await federation.exchange(client, token())
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(answer.json.error_description).toMatch(/subject token/)
    expect(recordOf(answer)).toMatchObject({ reason: 'malformed', storageCalls: 0, kmsCalls: 0, secretCalls: 0 })
  })

  test.each<[what: string, headers: Record<string, string>, change: (form: string) => string, path?: string]>([
    ['a token in the URL', {}, (form) => form, `${tokenPath}?subject_token=x`],
    ['an Authorization header', { authorization: 'Basic eA==' }, (form) => form],
    ['a parameter twice', {}, (form) => `${form}&client_id=x`],
    ['a parameter twice, once encoded', {}, (form) => `${form}&%63lient_id=x`],
    ['another charset', { 'content-type': 'application/x-www-form-urlencoded; charset=utf-16' }, (form) => form],
    ['JSON', { 'content-type': 'application/json' }, () => '{}'],
    ['bytes', { 'content-type': 'application/octet-stream' }, (form) => form],
    ['invalid percent-encoding', {}, (form) => `${form}&x=%`],
    ['invalid UTF-8', {}, (form) => `${form}&x=%ff`],
    ['a body over 24 KiB', {}, (form) => `${form}&x=${'y'.repeat(24 * 1024)}`],
    ['no body', {}, () => ''],
    ['an unknown Accept', { accept: 'text/html' }, (form) => form],
  ])('refuses %s, and repeats nothing of it', async (_, headers, change, path = tokenPath) => {
    const token = federation.sign({ secret: 'canary-of-a-refused-form' })
    const answer = await sendForm(server, path, change(exchangeForm(client, token)), headers)
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(recordOf(answer)).toMatchObject({ reason: 'malformed', storageCalls: 0 })
    const said = JSON.stringify(answer) + server.log.join('')
    expect(said).not.toContain(token)
    expect(said).not.toContain(token.split('.')[1])
  })

  test.each([
    [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    [{ audience: 'x' }, 'invalid_target'],
    [{ resource: 'https://x.example' }, 'invalid_target'],
    [{ scope: 'openid' }, 'invalid_scope'],
    [{ scope: 'project:a/b' }, 'invalid_scope'],
    [{ client_secret: 'x' }, 'invalid_request'],
    [{ actor_token: 'x' }, 'invalid_request'],
    [{ client_id: 'shop-deploy' }, 'invalid_request'],
  ])('refuses %j as %s', async (more, error) => {
    const answer = await federation.exchange(client, federation.sign(), more)
    expect([answer.status, answer.json.error]).toEqual([400, error])
    expect(recordOf(answer).storageCalls).toBe(0)
  })

  test('refuses forms and tokens with random changes, and never fails', async () => {
    const random = randomFrom(7)
    const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? ''
    const escapes = ['%', '%00', '%ff', '\\u0000', '\r\n', '\0', 'é']
    const texts = ['&', '=', '+', '.', '..', '[', '{"', '__proto__', 'x'.repeat(999)]
    const original = exchangeForm(client, federation.sign({}, { key: stranger }))
    for (let count = 0; count < 300; count++) {
      const at = Math.floor(random() * original.length)
      const end = at + Math.floor(random() * 3)
      const body = original.slice(0, at) + pick([...escapes, ...texts]) + original.slice(end)
      const { status, json } = await sendForm(server, pick([tokenPath, tokenPath, revokePath]), body)
      expect([body, status, typeof json?.error_description]).toEqual([body, 400, 'string'])
    }
    expect(server.log.filter((line) => line.includes('"message":"request failed"'))).toEqual([])
  })

  test.each([tokenPath, revokePath])(
    'answers every method but POST of %s with 405 and Allow, without a key',
    async (path) => {
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, headers } = await server.call(path, { method, token: '' })
        expect([method, status, headers.allow, headers['cache-control']]).toEqual([method, 405, 'POST', 'no-store'])
      }
    },
  )
})

describe('when signature and tenancy have held, says to the owner of the job', () => {
  const seconds = () => Math.floor(Date.now() / 1000)

  test('that the token has expired, and by how much', async () => {
    const exp = seconds() - 95
    const answer = await federation.exchange(client, federation.sign({ iat: exp - 300, exp }))
    const at = `${new Date(exp * 1000).toISOString().slice(0, 19)}Z`
    expect(answer.json.error_description).toMatch(
      new RegExp(`^the subject token has expired \\(exp ${at}, 9\\d s ago\\)$`),
    )
    expect(recordOf(answer).reason).toBe('expired')
  })

  test('that the token is not valid yet', async () => {
    for (const claims of [{ iat: seconds() + 60, exp: seconds() + 120 }, { nbf: seconds() + 60 }]) {
      const answer = await federation.exchange(client, federation.sign(claims))
      expect(answer.json.error_description).toMatch(
        /^the subject token is not yet valid \((iat|nbf) .*Z, [56]\d s ahead\)$/,
      )
      expect(recordOf(answer).reason).toBe('not_yet_valid')
    }
  })

  test('that the token is older than the provider allows', async () => {
    const { issuer } = federation
    const spec = { issuer: 'https://slow.example.com', type: 'OIDC', jwks: issuer.jwks(), maxTokenAge: 60 }
    await server.make(providers, provider('slow', spec))
    const id = await federation.trust('slow', {
      identityProvider: 'slow',
      claims: [{ claim: 'sub', values: ['job'] }],
    })
    const token = issuer.sign({ iss: spec.issuer, aud: server.base, iat: seconds() - 120 })
    const answer = await federation.exchange(id, token)
    expect(answer.json.error_description).toMatch(
      /^the subject token is too old \(iat .*Z, 12\d s ago, at most 60 s\)$/,
    )
  })

  test('that the token is from before a restore', async () => {
    vi.stubEnv('REJECT_ID_TOKENS_BEFORE', String(seconds() + 10))
    try {
      const answer = await federation.exchange(client, federation.sign())
      const text = 'the subject token was issued before this service was restored: get a new one from the issuer'
      expectRefusal(answer, text, 'before_restore')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('which claim of theirs is not accepted, and never which value would be', async () => {
    const claims = [
      { claim: 'repository_id', values: ['74'] },
      { claim: 'environment', values: ['expected-value'] },
    ]
    const id = await federation.trust('environment', { claims })
    const other = await federation.exchange(id, federation.sign({ environment: 'staging' }))
    expectRefusal(other, "claim environment is 'staging', which this client_id does not accept", 'claim')
    expect(recordOf(other).claim).toBe('environment')
    const absent = await federation.exchange(id, federation.sign())
    expectRefusal(absent, 'the subject token has no claim environment, which this client_id requires', 'claim')
    expect(other.text + absent.text).not.toContain('expected-value')
  })

  test('the value of a claim so that no shell and no CI system acts on it', async () => {
    const ref = 'refs/heads/"$(id)"\n::set-output name=x::y ##vso[task.setvariable]é'
    const claims = [
      { claim: 'repository_id', values: ['74'] },
      { claim: 'ref', values: ['refs/heads/main'] },
    ]
    const id = await federation.trust('hostile-ref', { claims })
    const { json, headers } = await federation.exchange(id, federation.sign({ ref }))
    const shown = "'refs/heads/%22%24%28id%29%22%0A::set-output name=x::y %23%23vso%5Btask.setvariable%5D%C3%A9'"
    expect(json.error_description).toBe(`claim ref is ${shown}, which this client_id does not accept`)
    expect(headers.warning).toBe(`299 - "${json.error_description}"`)
  })

  test.each(['github.pullrequesttarget', 'github.workflowrun'])(
    'that the event of %s is refused, in which code of strangers may run',
    async (fixture) => {
      const { event_name } = await claimsOf(fixture)
      const answer = await federation.exchange(client, federation.sign({ event_name }))
      expectRefusal(answer, `claim event_name is '${event_name}', which this client_id does not accept`, 'event')
    },
  )

  test('that the scopes together are too many', async () => {
    const scope = Array.from({ length: 60 }, (_, index) => `project:${'p'.repeat(60)}${index}`).join(' ')
    const answer = await federation.exchange(client, federation.sign(), { scope })
    const text = 'the scopes of the provider, of the trust and of this request are too many or too long together'
    expectRefusal(answer, text, 'scope', 'invalid_scope')
  })

  test('that the token has been exchanged already, also after its key was revoked', async () => {
    const token = federation.sign()
    const { json } = await federation.exchange(client, token)
    const text = 'the subject token has been exchanged already: get a new one from the issuer'
    expectRefusal(await federation.exchange(client, token), text, 'replayed')
    expectRefusal(await federation.exchange(client, token, { dry_run: 'true' }), text, 'replayed')
    await sendForm(server, revokePath, `token=${json.access_token}`)
    expectRefusal(await federation.exchange(client, token), text, 'replayed')
  })

  test('the same for another trust: one token, one key', async () => {
    const other = await federation.trust('second')
    const token = federation.sign()
    expect((await federation.exchange(client, token)).status).toBe(200)
    expect(recordOf(await federation.exchange(other, token)).reason).toBe('replayed')
  })

  test('the same for the twin of an ECDSA signature', async () => {
    const key = makeIssuerKey('ES256', 'twin')
    const spec = { issuer: 'https://ec.example.com', type: 'OIDC', jwks: JSON.stringify({ keys: [key.jwk] }) }
    await server.make(providers, provider('ec', spec))
    const id = await federation.trust('ec', { identityProvider: 'ec', claims: [{ claim: 'sub', values: ['job'] }] })
    const token = federation.issuer.sign({ iss: spec.issuer, aud: server.base }, { key })
    const [header = '', payload = '', signature = ''] = token.split('.')
    const bytes = Buffer.from(signature, 'base64url')
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
    const twin = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')])
    expect((await federation.exchange(id, token)).status).toBe(200)
    const again = await federation.exchange(id, [header, payload, twin.toString('base64url')].join('.'))
    expect(recordOf(again).reason).toBe('replayed')
  })
})

describe('the keys of an issuer that cannot be read', () => {
  test('are a 503 that may be repeated, and burn no token', async () => {
    const issuer = 'https://issuer.invalid'
    await server.make(providers, provider('unreachable', { issuer, type: 'OIDC' }))
    const id = await federation.trust('unreachable', {
      identityProvider: 'unreachable',
      claims: [{ claim: 'sub', values: ['job'] }],
    })
    const answer = await federation.exchange(id, federation.issuer.sign({ iss: issuer, aud: server.base }))
    const description = 'the public keys of the issuer of the subject token cannot be read: try again later'
    expect([answer.status, answer.json]).toEqual([
      503,
      { error: 'temporarily_unavailable', error_description: description },
    ])
    expect(answer.headers).toMatchObject({ 'retry-after': '5', warning: `299 - "${description}"` })
    const record = recordOf(answer)
    expect(record).toMatchObject({ decision: 'deny', reason: 'keys_unavailable', code: 503, fault: 'issuer' })
    // It is no outage of this service, so no alarm reports it as one.
    expect([record.serverErrors, record.clientErrors]).toEqual([0, 0])
  })
})

test('a trust that cannot be read is a 503 that tells the client nothing, and the log its cause', async () => {
  const id = await federation.trust('damaged')
  await server.dynamodb.client.send(
    new UpdateItemCommand({
      TableName: server.dynamodb.table,
      Key: { pk: { S: 'federatedidentitycredentials#o' }, sk: { S: 'damaged' } },
      UpdateExpression: 'SET internal = :none',
      ExpressionAttributeValues: { ':none': { S: '{}' } },
    }),
  )
  const answer = await federation.exchange(id, federation.sign())
  const error = { error: 'temporarily_unavailable', error_description: 'this service failed to answer the request' }
  expect([answer.status, answer.json, answer.headers['retry-after']]).toEqual([503, error, undefined])
  expect(recordOf(answer)).toMatchObject({ reason: 'failed', fault: 'server', serverErrors: 1 })
  expect(server.log.filter((line) => line.includes('"level":"error"')).at(-1)).toContain(
    'the internal part of a federated identity credential',
  )
})

describe('the revocation endpoint', () => {
  const revoke = (token: string, more = '') => sendForm(server, revokePath, `token=${encodeURIComponent(token)}${more}`)

  test('ends a key that an exchange made, at its next request', async () => {
    const { json } = await federation.exchange(client, federation.sign())
    const token = json.access_token
    const self = { method: 'POST', body: {}, token }
    const path = `${management}/selves`
    expect((await server.call(path, self)).status).toBe(201)
    const answer = await revoke(`${token}\n`, '&token_type_hint=access_token')
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(recordOf(answer)).toMatchObject({
      verb: 'delete',
      resource: 'oauth2/revoke',
      decision: 'allow',
      reason: 'revoked',
      user: 'team:shop',
      name: expect.stringMatching(/^shop-deploy-/),
    })
    expect((await server.call(path, self)).status).toBe(401)
    expect(recordOf(await revoke(token)).reason).toBe('nothing_revoked')
  })

  test('leaves a key that took the name of one that ended meanwhile', async () => {
    const exchanged = await federation.exchange(client, federation.sign())
    const { name } = recordOf(exchanged)
    const { parts } = server
    const storage = Object.create(parts.storage, {
      getCompanions: {
        value: async (...asked: Parameters<typeof parts.storage.getCompanions>) => {
          const found = await parts.storage.getCompanions(...asked)
          await server.call(`${keys}/${name}`, { method: 'DELETE' })
          await server.make(keys, accessKey(name, { user: 'alice' }))
          return found
        },
      },
    })
    const call = {
      requestId: 'r',
      headers: {},
      form: new Map([['token', exchanged.json.access_token]]),
      now: new Date(),
      deadline: endless,
      note: () => undefined,
    }
    const { outcome } = await revokeKey(call, Object.create(parts, { storage: { value: storage } }))
    expect(outcome).toBe('nothing_revoked')
    expect((await server.call(`${keys}/${name}`)).json.spec.user).toBe('alice')
  })

  test('leaves an ordinary key that somebody found, with the same answer', async () => {
    const { spec } = await server.make(keys, accessKey('production', { user: 'alice' }))
    const answer = await revoke(spec.key)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(recordOf(answer)).toMatchObject({ reason: 'nothing_revoked' })
    expect((await server.call(`${management}/selves`, { method: 'POST', body: {}, token: spec.key })).status).toBe(201)
  })

  test.each(['nothing', `mpk_${'0'.repeat(49)}`, 'x'.repeat(40), 'a.b.c', '\u0000'])(
    'gives the same answer to %j',
    async (token) => {
      const answer = await revoke(token)
      expect([answer.status, answer.text]).toEqual([200, ''])
      expect(recordOf(answer)).toMatchObject({ reason: 'nothing_revoked', storageCalls: 0 })
    },
  )

  test('needs a token', async () => {
    expectRefusal(await sendForm(server, revokePath, 'x=1'), 'the parameter token is missing or empty', 'malformed')
  })
})

test('a trust that a stranger asks for is not found', async () => {
  const { spec } = await server.make(keys, accessKey('stranger', { user: 'mallory' }))
  const { status } = await server.call(`${trusts}/shop-deploy`, { token: spec.key })
  expect(status).toBe(404)
})

test('the client_id of a trust is in its status', async () => {
  const made = await server.make(
    trusts,
    trust('shown', {
      identityProvider: 'github',
      team: 'shop',
      scope: {},
      claims: [{ claim: 'repository_id', values: ['74'] }],
    }),
  )
  expect(made.status.clientID).toBe(clientOf(made))
})

test('the audit records have only members and reasons that docs/audit.md explains, and the page has no others', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/audit.md'), 'utf8')
  const [general = '', own = ''] = page.split('\n## Exchanges\n')
  const [membersOfPage = '', reasonsOfPage = ''] = own.split('\n## ', 1).join().split('`reason` is one of:')
  const namesIn = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  const records = server.log
    .map((line) => JSON.parse(line))
    .filter(({ message, resource }) => message === 'audit' && String(resource).startsWith('oauth2/'))
  const members = new Set(records.flatMap(withoutMetrics))
  const explained = namesIn(membersOfPage)
  expect([...members].filter((name) => ![...explained, ...namesIn(general)].includes(name))).toEqual([])
  expect(explained.filter((name) => !members.has(name))).toEqual([])
  const reasons = new Set(records.map(({ reason }) => reason))
  expect([...reasons].filter((reason) => !namesIn(reasonsOfPage).includes(reason))).toEqual([])
  // test/server/oauth.exchange.test.ts and oauth.replay.test.ts have these.
  const elsewhere = ['accepted', 'username', 'too_many_keys', 'storage']
  expect(namesIn(reasonsOfPage).filter((reason) => !reasons.has(reason))).toEqual(elsewhere)
})

/** Returns the members of a record that are no metrics. */
function withoutMetrics({ _aws, ...record }: Record<string, unknown>): string[] {
  const { CloudWatchMetrics } = _aws as { CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[] }
  const measured = CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) => [
    ...Dimensions.flat(),
    ...Metrics.map(({ Name }) => Name),
  ])
  return Object.keys(record).filter((name) => name === 'latencyMs' || !measured.includes(name))
}
