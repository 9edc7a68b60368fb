/**
 * Attacks the token endpoint through the gateway, each with its exact answer. Whatever is wrong before the signature and the
 * tenancy have held has one and the same text. docs/threats.md lists what they hold.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { revoke as revokeKey } from '../../lib/server/oauth/revoke.ts'
import { randomFrom } from '../lib/engine/storage/adversary/simulation.ts'
import { endless } from '../support/deadlines.ts'
import {
  claimsOf,
  exchangeForm,
  type Federation,
  provider,
  providers,
  revokePath,
  sendForm,
  startFederation,
  tokenPath,
  trusts,
} from '../support/federation.ts'
import { type IssuerKey, makeIssuerKey } from '../support/issuerkey.ts'
import { accessKey, keys, management } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
let federation: Federation
/** The `client_id` of a trust of repository 74. */
let client: string
/** Another key of the issuer's form, which no provider has. */
let stranger: IssuerKey
beforeAll(async () => {
  const started = await startFederation(server)
  federation = { ...started, exchange: withTarget(started.exchange) }
  client = await federation.trust('shop-deploy')
  stranger = makeIssuerKey('RS256', federation.issuer.key.kid)
})
afterAll(async () => federation?.close())

/** Repeats what is refused as a request for a token of a cluster, which must be refused alike. */
const withTarget =
  (exchange: Federation['exchange']): Federation['exchange'] =>
  async (id, token, more, headers) => {
    const answer = await exchange(id, token, more, headers)
    if (answer.status === 200) return answer
    const targeted = await exchange(id, token, { ...more, audience: 'clusters/prod' }, headers)
    expect([targeted.status, targeted.json]).toEqual([answer.status, answer.json])
    return answer
  }

const generic = 'the subject token is not accepted for this client_id'

/** Checks the whole answer of a refusal, and its audit record. */
function expectRefusal(answer: Answer, description: string, reason: string, error = 'invalid_request') {
  expect([answer.status, answer.json]).toEqual([400, { error, error_description: description }])
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json;charset=UTF-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
    warning: `299 - "${description}"`,
  })
  expect(server.auditOf(answer)).toMatchObject({ decision: 'deny', reason, code: 400 })
}

const patch = (path: string, spec: object) => server.patch(path, { spec })

/** Encodes parts of a token, which may be texts of any form. */
const encode = (...parts: (string | object)[]) =>
  parts
    .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
    .join('.')

describe('with the one text for everything that is not proved yet', () => {
  const refuses = (answer: Answer, reason: string) => expectRefusal(answer, generic, reason)
  const tries = (token: string, id = client) => federation.exchange(id, token)

  // threat: exchange-48
  test('refuses an unknown client_id, after one read', async () => {
    const answer = await tries(federation.sign(), `nobody@${client.split('@')[1]}`)
    refuses(answer, 'unknown_client')
    expect(server.auditOf(answer).storageCalls).toBe(1)
  })

  // threat: exchange-47
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
    await server.patch(`${trusts}/closed`, body)
    await server.call(`${trusts}/closed`, { method: 'DELETE' })
    refuses(await tries(federation.sign(), id), 'client_disabled')
  })

  // threat: exchange-47
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
    const hold = (finalizers: string[]) => server.patch(`${providers}/private`, { metadata: { finalizers } })
    await patch(`${providers}/private`, { disabled: false })
    await hold(['example.com/x'])
    await server.call(`${providers}/private`, { method: 'DELETE' })
    refuses(await tries(sign(), id), 'provider_disabled')
    await hold([])
    refuses(await tries(sign(), id), 'provider_missing')
    await server.make(providers, provider('private', spec))
    refuses(await tries(sign(), id), 'provider_missing')
  })

  // threat: exchange-45
  test.each(['https://token.actions.githubusercontent.com/', 'https://TOKEN.actions.githubusercontent.com'])(
    'refuses the same claims from issuer %s',
    async (iss) => {
      refuses(await tries(federation.sign({ iss })), 'issuer')
    },
  )

  // threat: exchange-45
  test.each(['sts.amazonaws.com', 'https://keys.example.com/test/kubernetes/management'])(
    'refuses a token for audience %j',
    async (aud) => refuses(await tries(federation.sign({ aud })), 'audience'),
  )

  test('refuses a token that brings the key of its signature', async () => {
    const own = federation.sign(
      {},
      { key: stranger, header: { jwk: stranger.jwk, jku: 'https://evil.example.com/keys' } },
    )
    refuses(await tries(own), 'signature')
    const given = federation.sign({}, { header: { jwk: stranger.jwk, x5c: ['MII'], nonce: 'n' } })
    expect((await tries(given)).status).toBe(200)
  })

  test('refuses a repository that took the name of a deleted one', async () => {
    refuses(await tries(federation.sign({ repository_id: '99' })), 'tenancy')
    refuses(await tries(federation.sign({ repository_owner_id: '99' })), 'provider_claims')
  })

  // threat: exchange-45
  test('refuses a token of another cluster with the same issuer URL', async () => {
    const issuer = 'https://kubernetes.default.svc.cluster.local'
    const other = makeIssuerKey('RS256', 'other')
    for (const [name, jwks] of [
      ['blue', federation.issuer.jwks()],
      ['green', JSON.stringify({ keys: [other.jwk] })],
    ] as const)
      await server.make(providers, provider(name, { issuer, type: 'Kubernetes', jwks }))
    const claims = await claimsOf('kubernetes.pod')
    const entries = [{ claim: 'sub', values: [String(claims.sub)] }]
    const blue = await federation.trust('blue', { identityProvider: 'blue', claims: entries })
    const green = await federation.trust('green', { identityProvider: 'green', claims: entries })
    const token = federation.issuer.sign({ ...claims, iss: issuer, aud: [server.base] })
    refuses(await tries(token, green), 'signature')
    expect((await tries(token, blue)).status).toBe(200)
  })

  // threat: exchange-45
  test('refuses a token of this API for a cluster', async () => {
    const spec = { scope: { clusters: [{ cluster: 'west' }] } }
    const path = `${management}/directclusterendpointtokens`
    const { status } = await server.make(path, { spec })
    expect(await tries(status.token)).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
  })
})

describe('before it reads anything', () => {
  const times = { iat: 1_795_000_000, exp: 1_795_000_300 }
  const claims = () => ({ iss: 'https://i.example', aud: server.base, sub: 's', ...times })
  const header = { alg: 'RS256', typ: 'JWT', kid: 'a' }
  const signed = (head: object, body: string | object = claims()) => encode(head, body, 'signature')

  // threat: exchange-49
  test.each<[what: string, token: () => string]>([
    ['an access key', () => server.adminKey],
    ['alg none', () => signed({ ...header, alg: 'none' })],
    ['a critical parameter', () => signed({ ...header, crit: ['exp'], exp: 1 })],
    ['a member twice', () => signed(header, JSON.stringify(claims()).replace(/}$/, ',"sub":"other"}'))],
  ])('refuses a token with %s', async (_, token) => {
    const answer = await federation.exchange(client, token())
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(answer.json.error_description).toMatch(/subject token/)
    expect(server.auditOf(answer)).toMatchObject({ reason: 'malformed', storageCalls: 0, kmsCalls: 0, secretCalls: 0 })
  })

  // threat: exchange-49
  test.each<[what: string, headers: Record<string, string>, change: (form: string) => string, path?: string]>([
    ['a token in the URL', {}, (form) => form, `${tokenPath}?subject_token=x`],
    ['an Authorization header', { authorization: 'Basic eA==' }, (form) => form],
    ['a parameter twice', {}, (form) => `${form}&client_id=x`],
    ['another charset', { 'content-type': 'application/x-www-form-urlencoded; charset=utf-16' }, (form) => form],
    ['bytes', { 'content-type': 'application/octet-stream' }, (form) => form],
    ['a body over 24 KiB', {}, (form) => `${form}&x=${'y'.repeat(24 * 1024)}`],
    ['an unknown Accept', { accept: 'text/html' }, (form) => form],
  ])('refuses %s, and repeats nothing of it', async (_, headers, change, path = tokenPath) => {
    const token = federation.sign({ secret: 'canary-of-a-refused-form' })
    const answer = await sendForm(server, path, change(exchangeForm(client, token)), headers)
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    expect(server.auditOf(answer)).toMatchObject({ reason: 'malformed', storageCalls: 0 })
    const said = JSON.stringify(answer) + server.log.join('')
    expect(said).not.toContain(token)
    expect(said).not.toContain(token.split('.')[1])
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
  test('which claim of theirs is not accepted, and never which value would be', async () => {
    const claims = [
      { claim: 'repository_id', values: ['74'] },
      { claim: 'environment', values: ['expected-value'] },
    ]
    const id = await federation.trust('environment', { claims })
    const other = await federation.exchange(id, federation.sign({ environment: 'staging' }))
    expectRefusal(other, "claim environment is 'staging', which this client_id does not accept", 'claim')
    expect(server.auditOf(other).claim).toBe('environment')
    const absent = await federation.exchange(id, federation.sign())
    expectRefusal(absent, 'the subject token has no claim environment, which this client_id requires', 'claim')
    expect(other.text + absent.text).not.toContain('expected-value')
  })

  // threat: exchange-61
  test('and to the owner of the trust, in its status, which strangers and dry runs do not change', async () => {
    const id = await federation.trust('refusing')
    const path = `${trusts}/refusing`
    const last = async () => (await server.call(path)).json.status.lastRefusal
    const event_name = 'pull_request_target'
    await federation.exchange(id, federation.sign({ event_name }, { key: stranger }))
    await federation.exchange(id, federation.sign({ repository_id: '75', event_name }))
    await federation.exchange(id, federation.sign({ event_name }), { dry_run: 'true' })
    expect(await last()).toBeUndefined()
    const refused = await federation.exchange(id, federation.sign({ event_name }))
    const expected = {
      time: expect.stringMatching(/^20.*Z$/),
      subject: federation.job.sub,
      reason: 'event',
      message: refused.json.error_description,
    }
    expect(await last()).toEqual(expected)
    const { items } = (await server.call(trusts)).json
    expect(items.find((one: Answer['json']) => one.metadata.name === 'refusing').status.lastRefusal).toEqual(expected)
    // Nobody writes it: it is computed.
    const status = { lastRefusal: { message: 'no' } }
    const written = await server.patch(`${path}/status`, { status })
    expect([written.status, written.json.status?.lastRefusal?.message]).toEqual([200, expected.message])
    await server.call(path, { method: 'DELETE' })
    await federation.trust('refusing')
    expect(await last()).toBeUndefined()
  })

  // threat: exchange-46
  test.each(['github.pullrequesttarget', 'github.workflowrun'])(
    'that the event of %s is refused, in which code of strangers may run',
    async (fixture) => {
      const { event_name } = await claimsOf(fixture)
      const answer = await federation.exchange(client, federation.sign({ event_name }))
      expectRefusal(answer, `claim event_name is '${event_name}', which this client_id does not accept`, 'event')
    },
  )

  // threat: exchange-29
  test('that the token has been exchanged already, also after its key was revoked', async () => {
    const token = federation.sign()
    const { json } = await federation.exchange(client, token)
    const text = 'the subject token has been exchanged already: get a new one from the issuer'
    expectRefusal(await federation.exchange(client, token), text, 'replayed')
    expectRefusal(await federation.exchange(client, token, { dry_run: 'true' }), text, 'replayed')
    // One token, one key, whichever trust.
    expectRefusal(await federation.exchange(await federation.trust('second'), token), text, 'replayed')
    await sendForm(server, revokePath, `token=${json.access_token}`)
    expectRefusal(await federation.exchange(client, token), text, 'replayed')
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
    expect(answer.headers).toMatchObject({ 'retry-after': '60', warning: `299 - "${description}"` })
    const record = server.auditOf(answer)
    expect(record).toMatchObject({ decision: 'deny', reason: 'keys_unavailable', code: 503, fault: 'issuer' })
    // It is no outage of this service, so no alarm reports it as one.
    expect(record.serverErrors).toBe(0)
  })
})

test('a trust that cannot be read is a 503 that tells the client nothing, and the log its cause', async () => {
  const id = await federation.trust('damaged')
  const key = { pk: 'federatedidentitycredentials#o', sk: 'damaged' }
  await server.store.items().transact([{ type: 'set', key, attributes: { internal: '{}' } }], endless())
  const answer = await federation.exchange(id, federation.sign())
  const error = { error: 'temporarily_unavailable', error_description: 'this service failed to answer the request' }
  expect([answer.status, answer.json, answer.headers['retry-after']]).toEqual([503, error, undefined])
  expect(server.auditOf(answer)).toMatchObject({ reason: 'failed', fault: 'server', serverErrors: 1 })
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
    expect(server.auditOf(answer)).toMatchObject({
      verb: 'delete',
      resource: 'oauth2/revoke',
      decision: 'allow',
      reason: 'revoked',
      user: 'team:shop',
      name: expect.stringMatching(/^shop-deploy-/),
    })
    expect((await server.call(path, self)).status).toBe(401)
    expect(server.auditOf(await revoke(token)).reason).toBe('nothing_revoked')
  })

  test('leaves a key that took the name of one that ended meanwhile', async () => {
    const exchanged = await federation.exchange(client, federation.sign())
    const { name } = server.auditOf(exchanged)
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

  // threat: exchange-50
  test('leaves an ordinary key that somebody found, with the same answer', async () => {
    const { spec } = await server.make(keys, accessKey('production', { user: 'alice' }))
    const answer = await revoke(spec.key)
    expect([answer.status, answer.text]).toEqual([200, ''])
    expect(server.auditOf(answer)).toMatchObject({ reason: 'nothing_revoked' })
    expect((await server.post(`${management}/selves`, {}, spec.key)).status).toBe(201)
  })

  test.each(['nothing', `mpk_${'0'.repeat(49)}`, 'x'.repeat(40), 'a.b.c', '\u0000'])(
    'gives the same answer to %j',
    async (token) => {
      const answer = await revoke(token)
      expect([answer.status, answer.text]).toEqual([200, ''])
      expect(server.auditOf(answer)).toMatchObject({ reason: 'nothing_revoked', storageCalls: 0 })
    },
  )

  test('needs a token', async () => {
    expectRefusal(await sendForm(server, revokePath, 'x=1'), 'the parameter token is missing or empty', 'malformed')
  })
})

// threat: exchange-48
test('a trust that a stranger asks for is not found', async () => {
  const { spec } = await server.make(keys, accessKey('stranger', { user: 'mallory' }))
  const { status } = await server.call(`${trusts}/shop-deploy`, { token: spec.key })
  expect(status).toBe(404)
})

test('the audit records have only members and reasons that docs/audit.md explains, and the page has no others', async () => {
  const beyond = ['clusters/prod', 'clusters/staging']
    .map((audience) => `&${new URLSearchParams({ audience })}`)
    .join('')
  const form = exchangeForm(client, federation.sign()) + beyond
  const answer = await sendForm(server, tokenPath, form, { accept: 'application/yaml;as=KubeConfig' })
  expect(server.auditOf(answer).reason).toBe('target')
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
  // federationtexts.test.ts, oauth.exchange.test.ts, oauth.replay.dynamodb.ts, oauth.rules.test.ts and oauth.targets.test.ts have these.
  const times = ['expired', 'not_yet_valid', 'too_long', 'too_old', 'before_restore']
  const ofTargets = ['target_required', 'ended', 'too_many_signatures']
  const mixed = ['username', 'scope', 'too_many_keys', ...ofTargets, 'key_unknown', 'cluster', 'storage']
  const elsewhere = ['accepted', 'foreign_token', 'algorithm', ...times, ...mixed]
  const unseen = namesIn(reasonsOfPage).filter((reason) => !reasons.has(reason))
  expect(unseen.sort()).toEqual(elsewhere.sort())
})

/** Returns the members of a record that are no metrics. */
function withoutMetrics({ _aws, ...record }: Record<string, unknown>): string[] {
  const { CloudWatchMetrics } = _aws as { CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[] }
  const measured = CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) => [
    ...Dimensions.flat(),
    ...Metrics.map(({ Name }) => Name),
  ])
  return Object.keys(record).filter((name) => !measured.includes(name))
}
