/** Tests accepted exchanges through the gateway: the answer in each form, the access key, the audit record and the metrics. */
import { Agent } from 'node:https'
import { inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MOST_KEYS } from '../../lib/federation/exchange/slots.ts'
import {
  claimsOf,
  type Federation,
  provider,
  providers,
  startFederation,
  trust,
  trusts,
} from '../support/federation.ts'
import { accessKey, keys, management } from '../support/objects.ts'
import { type Answer, request } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
let federation: Federation
let client: string
beforeAll(async () => {
  // The collector must not remove the key of a deleted trust before its next request says why it is refused.
  federation = await startFederation(server, { maxTTL: 7200, scope: { projects: [{ project: '*' }] } })
  client = await federation.trust('shop-deploy', { ttl: 1800 })
})
afterAll(async () => federation?.close())

// biome-ignore lint/suspicious/noExplicitAny: records are JSON of every shape.
type Line = any
const lines = (): Line[] => server.log.map((line) => JSON.parse(line))
const linesOf = ({ headers }: Answer): Line[] => lines().filter(({ requestId }) => requestId === headers['audit-id'])

const selfOf = (token: string) => server.post(`${management}/selves`, {}, token)
const exchange = (more: object = {}, headers: Record<string, string> = {}, claims: object = {}) =>
  federation.exchange(client, federation.sign({ ...claims }), { ...more }, headers)

describe('the answer of an exchange', () => {
  test('is that of RFC 8693', async () => {
    const { status, headers, json } = await exchange()
    expect([status, json]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^mpk_\w{49}$/),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 1800,
      },
    ])
    expect(headers).toMatchObject({
      'content-type': 'application/json;charset=UTF-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    })
    expect((await selfOf(json.access_token)).status).toBe(201)
  })

  test('is an ExecCredential that ends with the key', async () => {
    const accept = 'application/json;as=ExecCredential;v=v1;g=client.authentication.k8s.io'
    const { json } = await exchange({}, { accept })
    expect(json).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: {
        expirationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        token: expect.any(String),
      },
    })
    const self = await selfOf(json.status.token)
    expect([self.status, self.json.status.expirationTimestamp]).toEqual([201, json.status.expirationTimestamp])
  })

  // threat: usage-9
  test('of a dry run says what would be granted, writes nothing and leaves the token usable', async () => {
    const token = federation.sign()
    const before = (await server.call(keys)).json.items.length
    const dry = await federation.exchange(client, token, { dry_run: 'true', scope: 'project:shop' })
    expect([dry.status, dry.json]).toEqual([200, { accepted: true, expires_in: 1800, scope: 'project:shop' }])
    expect((await server.call(keys)).json.items).toHaveLength(before)
    expect(server.auditOf(dry)).toMatchObject({ dryRun: true, decision: 'allow', reason: 'accepted', code: 200 })
    expect(linesOf(dry).map(({ message }) => message)).toEqual(['audit'])
    expect((await federation.exchange(client, token)).status).toBe(200)
  })

  test('has the metadata of RFC 8414 below the URL of the API, and between host and path', async () => {
    const { status, json } = await server.call('/.well-known/oauth-authorization-server', { token: '' })
    const { pathname } = new URL(server.base)
    const agent = new Agent({ ca: server.certificateAuthority })
    const path = pathname.slice(pathname.indexOf('/kubernetes'))
    const between = await request(agent, `${server.root}/.well-known/oauth-authorization-server${path}`, { token: '' })
    agent.destroy()
    expect([between.status, between.json]).toEqual([status, json])
    expect([status, json]).toEqual([200, (await server.call('/.well-known/openid-configuration', { token: '' })).json])
    expect(json).toMatchObject({
      token_endpoint: `${server.base}/oauth2/token`,
      revocation_endpoint: `${server.base}/oauth2/revoke`,
      grant_types_supported: ['urn:ietf:params:oauth:grant-type:token-exchange'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
    })
  })
})

describe('the access key of an exchange', () => {
  test('says who came in from where, and belongs to its trust', async () => {
    const answer = await exchange({ scope: 'project:shop' }, {}, { environment: 'production' })
    const { name } = server.auditOf(answer)
    const { json: key } = await server.call(`${keys}/${name}`)
    const [, uid] = client.split('@')
    expect(key.metadata).toMatchObject({
      name: expect.stringMatching(/^shop-deploy-[a-z2-7]{12}$/),
      labels: {
        'management.platform/federated-identity-credential': 'shop-deploy',
        'management.platform/identity-provider': 'github',
      },
      ownerReferences: [
        {
          apiVersion: 'management.platform/v1',
          kind: 'FederatedIdentityCredential',
          name: 'shop-deploy',
          uid,
          controller: true,
        },
      ],
    })
    expect(key.spec).toEqual({
      displayName: 'octo-org/octo-repo production (run 1234567890)',
      team: 'shop',
      type: 'Other',
      ttl: 1800,
      scope: { projects: [{ project: 'shop' }] },
      identity: {
        connector: 'github',
        userId: 'repo:octo-org/octo-repo:ref:refs/heads/main',
        extraClaims: {
          repository: 'octo-org/octo-repo',
          repository_id: '74',
          ref: 'refs/heads/main',
          sha: federation.job.sha,
          environment: 'production',
          event_name: 'push',
          actor: 'octocat',
          run_id: '1234567890',
          workflow_ref: 'octo-org/octo-repo/.github/workflows/deploy.yml@refs/heads/main',
        },
      },
    })
    expect(key.status).toMatchObject({ owner: 'team:shop', phase: 'Active' })
  })

  test('of a trust without an owner belongs to the maker of the trust', async () => {
    const { spec } = await server.make(keys, accessKey('bob', { user: 'bob' }))
    const claims = [{ claim: 'repository_id', values: ['74'] }]
    const body = trust('bobs', { identityProvider: 'github', claims, scope: {} })
    const made = await server.post(trusts, body, spec.key)
    expect([made.status, made.text]).toEqual([201, expect.any(String)])
    const answer = await federation.exchange(made.json.status.clientID, federation.sign())
    expect(server.auditOf(answer)).toMatchObject({ user: 'bob', code: 200 })
  })
})

describe('a person', () => {
  const issuer = 'https://login.example.com'
  const username = { claim: 'email', prefix: 'company:' }
  const groups = [{ claim: 'groups', value: 'payments-devs', group: 'team:payments' }]
  let people: string
  beforeAll(async () => {
    const jwks = federation.issuer.jwks()
    await server.make(providers, provider('company', { issuer, type: 'OIDC', jwks, tokenUse: 'Lifetime' }))
    const claims = [{ claim: 'groups', values: ['payments-devs'] }]
    people = await federation.trust('staff', {
      identityProvider: 'company',
      claims,
      claimMappings: { username, groups },
      team: undefined,
      scope: undefined,
    })
  })
  const sign = async (claims: object = {}) =>
    federation.issuer.sign({
      ...(await claimsOf('oidc.person')),
      iss: issuer,
      aud: server.base,
      azp: server.base,
      jti: Math.random(),
      ...claims,
    })
  const mona = { email: 'mona@example.com', email_verified: true, groups: ['payments-devs', 'all'] }

  test('logs in with the name and the groups of the mapping', async () => {
    const answer = await federation.exchange(people, await sign(mona))
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
    const self = await selfOf(answer.json.access_token)
    expect(self.json.status.user.name).toBe('company:mona@example.com')
    const { json: key } = await server.call(`${keys}/${server.auditOf(answer).name}`)
    expect(key.spec).toMatchObject({ type: 'Login', user: 'company:mona@example.com', groups: ['team:payments'] })
    expect(server.auditOf(answer).user).toBe('company:mona@example.com')
  })

  test(`gets at most ${MOST_KEYS} keys for one ID token of each trust`, async () => {
    const token = await sign(mona)
    for (let count = 0; count < MOST_KEYS; count++) expect((await federation.exchange(people, token)).status).toBe(200)
    const answer = await federation.exchange(people, token)
    expect(answer.json.error_description).toBe(
      'the subject token has been exchanged for 50 access keys: use those, or get a new token from the issuer',
    )
    expect(server.auditOf(answer).reason).toBe('too_many_keys')
    const claims = [{ claim: 'groups', values: ['all'] }]
    const other = await federation.trust('others', { identityProvider: 'company', claims })
    expect((await federation.exchange(other, token)).status).toBe(200)
    expect((await federation.exchange(people, await sign(mona))).status).toBe(200)
  })
})

describe('the audit record of an exchange', () => {
  test('says who came in from where, with the key and the hash of the token', async () => {
    const answer = await exchange()
    const { latencyMs, requestId, _aws, ...record } = server.auditOf(answer)
    const { name, uid } = record
    expect(record).toMatchObject({
      level: 'info',
      message: 'audit',
      sourceIp: '127.0.0.1',
      verb: 'create',
      resource: 'oauth2/token',
      federatedIdentityCredential: 'shop-deploy',
      identityProvider: 'github',
      issuer: 'https://token.actions.githubusercontent.com',
      subject: 'repo:octo-org/octo-repo:ref:refs/heads/main',
      tokenId: expect.stringMatching(/^job-/),
      tokenHash: expect.stringMatching(/^[\w-]{16}$/),
      claims: expect.arrayContaining(['repository=octo-org/octo-repo', 'run_id=1234567890']),
      user: 'team:shop',
      credential: 'access key',
      expires: expect.stringMatching(/Z$/),
      name: expect.stringMatching(/^shop-deploy-/),
      decision: 'allow',
      reason: 'exchanged',
      code: 200,
    })
    expect(record).not.toHaveProperty('path')
    // Written before the key, because a function that is killed writes no audit record.
    const [first, second, ...more] = linesOf(answer)
    expect(first).toEqual({ level: 'info', message: 'exchange', requestId, name, uid, tokenHash: record.tokenHash })
    expect([second.message, more]).toEqual(['audit', []])
  })

  test('of a refusal has nothing of an unproved token but its issuer and its hash', async () => {
    const answer = await federation.exchange(client, federation.sign({ repository_id: '99', actor: 'canary-actor' }))
    const record = server.auditOf(answer)
    expect(record).toMatchObject({ decision: 'deny', reason: 'tenancy', code: 400, identityProvider: 'github' })
    for (const member of ['user', 'subject', 'tokenId', 'claims', 'name', 'credential'])
      expect(record).not.toHaveProperty(member)
    expect(JSON.stringify(linesOf(answer))).not.toContain('canary-actor')
  })
})

describe('the metrics of an exchange', () => {
  const measured = (answer: Answer) => {
    const { exchange: outcome, exchanges, storageCalls, serverErrors } = server.auditOf(answer)
    return { outcome, exchanges, storageCalls, serverErrors }
  }
  const counted = { exchanges: 1, serverErrors: 0 }

  test('count outcomes, and calls: 4 for a key, 2 for a token that is not accepted, once a minute 3, 0 for one that is malformed', async () => {
    const token = federation.sign()
    const granted = await federation.exchange(client, token)
    expect(measured(granted)).toEqual({ ...counted, outcome: 'granted', storageCalls: 4 })
    const other = await federation.trust('measured')
    const refused = () => federation.exchange(other, federation.sign({ event_name: 'pull_request_target' }))
    // What the trust shows of a refusal is written once a minute.
    expect(measured(await refused())).toEqual({ ...counted, outcome: 'refused', storageCalls: 3 })
    const outcomes: [Promise<Answer>, object][] = [
      [federation.exchange(client, federation.sign({ repository_id: '9' })), { outcome: 'unproven', storageCalls: 2 }],
      [refused(), { outcome: 'refused', storageCalls: 2 }],
      [federation.exchange(client, 'a.b.c'), { outcome: 'malformed', storageCalls: 0 }],
      [federation.exchange(client, token), { outcome: 'replayed', storageCalls: expect.any(Number) }],
    ]
    for (const [answer, expected] of outcomes) expect(measured(await answer)).toEqual({ ...counted, ...expected })
  })
})

// threat: exchange-57
test('an ID token and a key are in no log line, no item and no answer but the one', async () => {
  const token = federation.sign({ canary: 'canary-claim-of-a-token' })
  const answer = await federation.exchange(client, token)
  const again = await federation.exchange(client, token)
  const { access_token: key } = answer.json
  const [header = '', payload = '', signature = ''] = token.split('.')
  const said = [...server.log, again.text, JSON.stringify(again.headers), JSON.stringify(answer.headers)].join('\n')
  const listed = (await server.call(`${keys}?limit=500`)).text
  const stored = await storedTexts()
  for (const secret of [key, token, payload, signature, `${header}.${payload}`, 'canary-claim-of-a-token']) {
    for (const place of [said, listed, stored]) expect(place.includes(secret)).toBe(false)
  }
})

/** Returns all items of the table as text, compressed objects inflated. */
async function storedTexts(): Promise<string> {
  const values = (await server.store.all()).flatMap((item) => Object.values(item))
  return values
    .map((value) => (value instanceof Uint8Array ? inflateRawSync(value).toString() : JSON.stringify(value)))
    .join('\n')
}
