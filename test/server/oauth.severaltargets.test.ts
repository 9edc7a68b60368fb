/** Tests exchanges for several clusters: one kube config, all or nothing, and the end of each token by itself. */
import { decodeJwt, type JWTPayload } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Deadline } from '../../lib/engine/meta/errors/deadline.ts'
import { exchange as runExchange } from '../../lib/federation/exchange/exchange.ts'
import { decodeForm } from '../../lib/federation/oauth/form.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { decodeKeyInternal } from '../../lib/keys/credential/keyinternal.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { storeOf } from '../../lib/server/kindstores.ts'
import { requestDeadline } from '../../lib/server/lambda/requestdeadline.ts'
import { revoke as revokeToken } from '../../lib/server/oauth/revoke.ts'
import { type AccountCluster, startAccountCluster } from '../support/accountcluster.ts'
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
  tokenPath,
} from '../support/federation.ts'
import { apiVersion, clusters, instances, keys, management } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { endSecrets, publishEvents, useServer, whileFunctionsRun } from '../support/sharedserver.ts'
import { parseYaml } from '../support/yaml.ts'

const server = useServer()
const lifetimeIssuer = 'https://ci.example.com'
const names = ['asia', 'eu', 'us']
const scope = {
  clusters: names.map((cluster) => ({ cluster })),
  virtualClusters: [{ project: 'shop', virtualCluster: '*' }],
}
const access = [{ verbs: ['get', 'create'], subresources: ['kubeconfig'], teams: ['shop'] }]
let federation: Federation
/** Trusts of team shop: for an ID token that is exchanged once, and during its life. */
let once: string
let lifetime: string
/** The keys with which the clusters ask for reviews. */
const agents = new Map<string, MadeKey>()

beforeAll(async () => {
  federation = await startFederation(server)
  once = await federation.trust('shop', { scope })
  const jwks = federation.issuer.jwks()
  await server.make(providers, provider('ci', { issuer: lifetimeIssuer, type: 'OIDC', jwks, tokenUse: 'Lifetime' }))
  lifetime = await trustOf('ci-shop')
  for (const name of names) {
    await makeCluster(name)
    const agent = { roles: [{ role: 'agent' }], clusters: [{ cluster: name }] }
    agents.set(name, await server.makeKey({ user: `agent-${name}`, scope: agent }))
  }
  await makeCluster('closed', { access: [] })
  const spec = { accessPoint: { ingress: { enabled: true, host: 'dev.example.com' } }, access }
  await server.make(instances('p-shop'), {
    apiVersion,
    kind: 'VirtualClusterInstance',
    metadata: { name: 'dev' },
    spec: { ...spec, certificateAuthorityData: authority() },
  })
})
afterAll(() => federation?.close())

const authority = () => Buffer.from(server.certificateAuthority).toString('base64')
const makeCluster = (name: string, more: object = {}) => {
  const spec = { server: `https://${name}.example.com`, certificateAuthorityData: authority(), access, ...more }
  return server.make(clusters, { apiVersion, kind: 'Cluster', metadata: { name }, spec })
}
const trustOf = (name: string, more: object = {}) =>
  federation.trust(name, { identityProvider: 'ci', claims: [{ claim: 'sub', values: ['job'] }], scope, ...more })

let count = 0
const ciToken = () =>
  federation.issuer.sign({ iss: lifetimeIssuer, sub: 'job', aud: server.base, jti: `several-${++count}` })

const kubeConfig = { accept: 'application/yaml;as=KubeConfig' }

/** Returns the form of an exchange for these audiences. */
const formOf = (client: string, token: string, audiences: readonly string[], more: Parameters = {}) =>
  exchangeForm(client, token, more) + audiences.map((one) => `&audience=${encodeURIComponent(one)}`).join('')

/** Exchanges a token for these audiences. */
function exchange(
  client: string,
  token: string,
  audiences: readonly string[],
  { more = {}, headers = kubeConfig }: { more?: Parameters; headers?: Record<string, string> } = {},
) {
  return sendForm(server, tokenPath, formOf(client, token, audiences, more), headers)
}

const at = (...of: string[]) => of.map((name) => `clusters/${name}`)
const errorOf = ({ status, json }: Answer) => [status, json.error, json.error_description]
const countKeys = async () => (await server.call(`${keys}?limit=500`)).json.items.length

interface Config {
  'current-context': string
  clusters: { name: string; cluster: { server: string } }[]
  contexts: { name: string; context: { cluster: string; user: string } }[]
  users: { name: string; user: { token: string } }[]
}

async function configOf({ status, text }: Answer): Promise<Config> {
  expect([status, text]).toEqual([200, expect.stringContaining('kind: Config')])
  return (await parseYaml(text)) as unknown as Config
}

/** Returns the tokens in the order of the contexts. */
const tokensIn = async (answer: Answer): Promise<string[]> =>
  (await configOf(answer)).users.map(({ user }) => user.token)

type Claims = JWTPayload & { 'management.platform': { key: { name: string; uid: string }; scopes: string } }
const claimsOf = (token: string) => decodeJwt<Claims>(token)
const keyIn = (token: string) => claimsOf(token)['management.platform'].key

const revoke = (token: string): Promise<Answer> =>
  whileFunctionsRun(
    sendForm(server, revokePath, new URLSearchParams({ token }).toString(), { accept: 'application/json' }),
  )

/** Asks as a cluster whether its user, who came with this token, may list pods. */
async function isAccepted(token: string, cluster: string): Promise<boolean> {
  const claims = claimsOf(token)
  const { key, scopes } = claims['management.platform']
  const spec = {
    user: claims.sub,
    groups: claims.groups,
    extra: {
      'management.platform/access-key': [key.name],
      'management.platform/access-key-uid': [key.uid],
      'management.platform/scopes': [scopes],
      'management.platform/target': [`clusters/${cluster}`],
      'management.platform/issued-at': [String(claims.iat)],
    },
    resourceAttributes: { namespace: 's', verb: 'list', version: 'v1', resource: 'pods' },
  }
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const { status, json } = await server.post(path, body, agents.get(cluster)?.token)
  expect(status).toBe(201)
  return json.status.denied !== true
}

const acceptedAt = async (tokens: readonly string[], of: readonly string[]) =>
  Promise.all(tokens.map((token, index) => isAccepted(token, of[index] ?? '')))

describe('an exchange for several targets', () => {
  test('answers one kube config, with a context for each in the order of the request', async () => {
    const audiences = ['clusters/us', 'virtualclusters/shop/dev', 'clusters/eu']
    const answer = await exchange(once, federation.sign(), audiences)
    const config = await configOf(answer)
    const host = new URL(server.base).host
    const entries = [`us@${host}`, `dev.p-shop@${host}`, `eu@${host}`].map((name) => expect.stringContaining(name))
    expect(config['current-context']).toEqual(entries[0])
    expect(config.contexts.map(({ name }) => name)).toEqual(entries)
    expect(config.contexts.map(({ context }) => [context.cluster, context.user])).toEqual(
      entries.map((name) => [name, name]),
    )
    expect(config.clusters.map(({ cluster }) => cluster.server)).toEqual([
      'https://us.example.com',
      'https://dev.example.com',
      'https://eu.example.com',
    ])
  })

  // threat: exchange-59
  test('gives each the token that it would get alone, which names no other target', async () => {
    const several = (await tokensIn(await exchange(once, federation.sign(), at('us', 'eu')))).map(claimsOf)
    const alone = await Promise.all(
      ['us', 'eu'].map(async (name) => (await tokensIn(await exchange(once, federation.sign(), at(name))))[0] ?? ''),
    )
    const without = ({ jti: _, iat: __, nbf: ___, exp: ____, ...claims }: Claims) => ({
      ...claims,
      'management.platform': { ...claims['management.platform'], key: undefined },
    })
    expect(several.map(without)).toEqual(alone.map(claimsOf).map(without))
    expect(several.map(({ aud }) => aud)).toEqual([[`${server.base}/clusters/us`], [`${server.base}/clusters/eu`]])
    expect(new Set(several.map((claims) => claims['management.platform'].key.uid)).size).toBe(1)
  })

  test('makes one key, whose status names the targets, and one audit record', async () => {
    const before = await countKeys()
    const answer = await exchange(once, federation.sign(), at('us', 'eu'))
    const [first = '', second = ''] = await tokensIn(answer)
    expect(await countKeys()).toBe(before + 1)
    const { json } = await server.call(`${keys}/${keyIn(first).name}`)
    expect([json.status.targets, json.status.target]).toEqual([at('eu', 'us'), undefined])
    const [one = ''] = await tokensIn(await exchange(once, federation.sign(), at('us')))
    const alone = await server.call(`${keys}/${keyIn(one).name}`)
    expect([alone.json.status.targets, alone.json.status.target]).toEqual([at('us'), 'clusters/us'])
    expect(server.auditOf(answer)).toMatchObject({
      reason: 'exchanged',
      target: at('us', 'eu'),
      jti: [claimsOf(first).jti, claimsOf(second).jti],
      audiences: at('us', 'eu').map((place) => `${server.base}/${place}`),
      credential: 'token',
      name: keyIn(first).name,
    } as object as never)
  })

  test('counts each target in the metrics', async () => {
    const measured = async (audiences: readonly string[]) => {
      const answer = await exchange(once, federation.sign(), audiences)
      const { exchanges, targeted, targetedExchanges, kmsCalls } = server.auditOf(answer)
      return [exchanges, targeted, targetedExchanges, kmsCalls]
    }
    expect(await measured(at('us', 'eu'))).toEqual([1, 'clusters.granted', 2, 2])
    expect(await measured([...at('us', 'eu'), 'virtualclusters/shop/dev'])).toEqual([1, 'mixed.granted', 3, 3])
    expect(await measured(at('us', 'closed'))).toEqual([1, 'clusters.refused', 2, 0])
  })

  test('of a dry run writes nothing, and leaves the ID token usable', async () => {
    const before = await countKeys()
    const token = federation.sign()
    const dry = await exchange(once, token, at('us', 'eu'), { more: { dry_run: 'true' } })
    expect([dry.status, dry.json]).toEqual([200, { accepted: true, expires_in: 3600 }])
    expect(await countKeys()).toBe(before)
    await tokensIn(await exchange(once, token, at('us', 'eu')))
  })

  // threat: exchange-30
  test('has a key that gets no value', async () => {
    const [token = ''] = await tokensIn(await exchange(once, federation.sign(), at('us', 'eu')))
    const path = `${keys}/${keyIn(token).name}`
    expect((await server.post(`${path}/rotate`, { apiVersion, kind: 'OwnedAccessKeyRotation' })).status).toBe(422)
    expect((await server.patch(path, { spec: { key: 'my-very-own-secret-value-0123456789' } })).status).toBe(422)
  })
})

describe('audience=clusters/*', () => {
  const everything = ['clusters/*']
  const contextsOf = async (answer: Answer) =>
    (await configOf(answer)).contexts.map(({ name }) => name.slice(0, name.indexOf('@')))

  test('stands for the clusters that the scope of the trust names and that have an object, in their order', async () => {
    const rules = [{ cluster: 'asia', requestTargets: ['Cluster'] }]
    const named = ['us', 'missing', 'eu'].map((cluster) => ({ cluster }))
    const client = await federation.trust('named', { scope: { clusters: named, rules } })
    const answer = await exchange(client, federation.sign(), everything)
    expect(await contextsOf(answer)).toEqual(['asia', 'eu', 'us'])
    expect(server.auditOf(answer).target).toEqual(at('asia', 'eu', 'us') as object as never)
  })

  test('may stand for one, whose exchange is the same as one for its name', async () => {
    const client = await trustOf('ci-one', { scope: { clusters: [{ cluster: 'eu' }] } })
    const token = ciToken()
    const [first = ''] = await tokensIn(await exchange(client, token, everything))
    const [again = ''] = await tokensIn(await exchange(client, token, at('eu')))
    expect(keyIn(again)).toEqual(keyIn(first))
  })

  // threat: exchange-59
  test.each<[string, object]>([
    ['all', { clusters: [{ cluster: '*' }] }],
    ['all beside one', { clusters: [{ cluster: 'eu' }, { cluster: '*' }] }],
    ['none with an object', { clusters: [{ cluster: 'missing' }] }],
    ['none', { projects: [{ project: 'shop' }] }],
    ['all by a rule', { rules: [{ requestTargets: ['Cluster'] }] }],
  ])('is refused for a trust whose scope names %s', async (what, own) => {
    const client = await federation.trust(`names-${what.replaceAll(/[ ,]+/g, '-')}`, { scope: own })
    const token = federation.sign()
    const answer = await exchange(client, token, everything)
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.stringContaining('name the clusters')])
    expect((await sendForm(server, tokenPath, exchangeForm(client, token))).status).toBe(200)
  })

  test('is refused for more than 20', async () => {
    const many = Array.from({ length: 21 }, (_, index) => `many-${index}`)
    await Promise.all(many.map((name) => makeCluster(name)))
    const client = await federation.trust('many', { scope: { clusters: many.map((cluster) => ({ cluster })) } })
    const answer = await exchange(client, federation.sign(), everything)
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.stringContaining('names 21 clusters')])
    const some = await exchange(client, federation.sign(), at(...many.slice(1)))
    expect(await contextsOf(some)).toEqual(many.slice(1))
  })
})

describe('bad targets', () => {
  const many = Array.from({ length: 21 }, (_, index) => `clusters/c${index}`)
  const form = 'application/yaml;as=KubeConfig'
  // threat: exchange-59
  test.each<[string, readonly string[], object, string, string]>([
    ['21', many, {}, 'invalid_request', 'audience is given 21 times'],
    ['the same twice', at('eu', 'us', 'eu'), {}, 'invalid_request', 'names clusters/eu twice'],
    [
      'two of one context',
      ['clusters/dev.p-shop', 'virtualclusters/shop/dev'],
      {},
      'invalid_request',
      'context dev.p-shop',
    ],
    ['a resource beside', at('eu', 'us'), { more: { resource: 'x' } }, 'invalid_target', 'both given'],
    ['a resource beside all', ['clusters/*'], { more: { resource: 'x' } }, 'invalid_target', 'both given'],
    ['all beside one', ['clusters/*', 'clusters/eu'], {}, 'invalid_request', 'give no other audience'],
    ['all twice', ['clusters/*', 'clusters/*'], {}, 'invalid_request', 'give no other audience'],
    ['an unknown form beside', ['clusters/eu', 'spaces/shop/web'], {}, 'invalid_target', 'is not known'],
    ['a list in one', ['clusters/eu,us'], {}, 'invalid_target', 'is not known'],
    ['the form of text', at('eu', 'us'), { headers: { accept: 'text/plain' } }, 'invalid_request', form],
    ['JSON', at('eu', 'us'), { headers: {} }, 'invalid_request', form],
    ['all as JSON', ['clusters/*'], { headers: {} }, 'invalid_request', form],
    [
      'an ExecCredential',
      at('eu', 'us'),
      { headers: { accept: 'application/json;as=ExecCredential;v=v1;g=client.authentication.k8s.io' } },
      'invalid_request',
      form,
    ],
    ['another type', at('eu', 'us'), { more: { requested_token_type: 'x' } }, 'invalid_request', 'with audience'],
    ['one that may not be used', at('eu', 'closed'), {}, 'invalid_target', 'one of these targets'],
    ['one beyond the scope', at('eu', 'many'), {}, 'invalid_target', 'one of these targets'],
    ['a narrower scope', at('eu', 'us'), { more: { scope: 'cluster:eu' } }, 'invalid_target', 'one of these targets'],
  ])('(%s) are refused, write nothing and leave the ID token usable', async (_, audiences, options, error, why) => {
    const before = await countKeys()
    const token = federation.sign()
    const answer = await exchange(once, token, audiences, options)
    expect(errorOf(answer)).toEqual([400, error, expect.stringContaining(why)])
    expect(await countKeys()).toBe(before)
    expect((await exchange(once, token, at('eu', 'us'))).status).toBe(200)
  })

  // threat: exchange-59
  test('have one text, whichever of them does not exist or may not be used; the audit record names them', async () => {
    const wide = await federation.trust('wide', { scope: { clusters: [{ cluster: '*' }] } })
    const answers = await Promise.all(
      [at('eu', 'us', 'missing'), at('closed', 'eu', 'us'), at('missing', 'closed', 'eu')].map((audiences) =>
        exchange(wide, federation.sign(), audiences),
      ),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const refusedTargets = answers.map(
      (answer) => (server.auditOf(answer) as { refusedTargets?: unknown }).refusedTargets,
    )
    expect(refusedTargets).toEqual([at('missing'), at('closed'), at('missing', 'closed')])
    expect(server.auditOf(answers[0] as Answer).reason).toBe('target')
  })
})

describe('an equal exchange during the life of an ID token', () => {
  test('signs others for the same key, in any order, with at most 4 reads and no write', async () => {
    const token = ciToken()
    const first = await tokensIn(await exchange(lifetime, token, at('asia', 'eu', 'us')))
    const before = await countKeys()
    const again = await exchange(lifetime, token, at('us', 'asia', 'eu'))
    const others = await tokensIn(again)
    expect(others.map(keyIn)).toEqual(first.map(keyIn))
    expect(others.map((one) => claimsOf(one).aud)).toEqual(
      at('us', 'asia', 'eu').map((place) => [`${server.base}/${place}`]),
    )
    expect(await countKeys()).toBe(before)
    const { storageCalls, kmsCalls } = server.auditOf(again)
    expect([storageCalls, kmsCalls]).toEqual([4, 3])
  })

  test('is not equal with more or fewer targets', async () => {
    const token = ciToken()
    const uids = new Set<string>()
    for (const audiences of [at('eu'), at('eu', 'us'), at('asia', 'eu', 'us')])
      uids.add(keyIn((await tokensIn(await exchange(lifetime, token, audiences)))[0] ?? '').uid)
    expect(uids.size).toBe(3)
  })

  test('64 at the same time make one key, and sign at most 60 times for each target', async () => {
    const token = ciToken()
    const before = await countKeys()
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        exchange(lifetime, token, index % 2 === 0 ? at('eu', 'us') : at('us', 'eu')),
      ),
    )
    const good = answers.filter(({ status }) => status === 200)
    const uids = new Set((await Promise.all(good.map(tokensIn))).flat().map((one) => keyIn(one).uid))
    expect([uids.size, await countKeys()]).toEqual([1, before + 1])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
    expect(good.length).toBeLessThanOrEqual(60)
  })
})

describe('an end', () => {
  // threat: exchange-60
  test('of one token leaves the others, and that of the last one ends the key', async () => {
    const of = ['asia', 'eu', 'us']
    const tokens = await tokensIn(await exchange(lifetime, ciToken(), at(...of)))
    expect(await acceptedAt(tokens, of)).toEqual([true, true, true])
    const [asia = '', eu = '', us = ''] = tokens
    const path = `${keys}/${keyIn(asia).name}`
    const ended = await revoke(eu)
    expect([ended.json, server.auditOf(ended).reason]).toEqual([{ revoked: true }, 'revoked'])
    expect(await acceptedAt(tokens, of)).toEqual([true, false, true])
    const again = await revoke(eu)
    expect([again.text, server.auditOf(again).reason]).toEqual(['', 'nothing_revoked'])
    await revoke(asia)
    expect([await acceptedAt(tokens, of), (await server.call(path)).status]).toEqual([[false, false, true], 200])
    await revoke(us)
    expect([await acceptedAt(tokens, of), (await server.call(path)).status]).toEqual([[false, false, false], 404])
  })

  // threat: exchange-60
  test('of one token ends the exchange of the ID token for its target, alone and with others, and for a key', async () => {
    const token = ciToken()
    const [eu = ''] = await tokensIn(await exchange(lifetime, token, at('eu', 'us')))
    await revoke(eu)
    for (const audiences of [at('eu', 'us'), at('us', 'eu'), at('eu'), at('asia', 'eu'), []]) {
      const headers = audiences.length === 0 ? {} : kubeConfig
      const answer = await exchange(lifetime, token, audiences, { headers })
      expect([audiences, ...errorOf(answer)]).toEqual([
        audiences,
        400,
        'invalid_request',
        expect.stringContaining('was ended'),
      ])
    }
    await tokensIn(await exchange(lifetime, token, at('us', 'asia')))
    await tokensIn(await exchange(lifetime, token, at('us')))
    await tokensIn(await exchange(lifetime, ciToken(), at('eu', 'us')))
  })

  // threat: exchange-60
  test.each<[string, (name: string) => Promise<unknown>]>([
    ['deleting it', (name) => server.call(`${keys}/${name}`, { method: 'DELETE' })],
    ['disabling it', (name) => server.patch(`${keys}/${name}`, { spec: { disabled: true } })],
    [
      'a revocation',
      (name) =>
        server.post(`${management}/accesskeyrevocations`, {
          apiVersion,
          kind: 'AccessKeyRevocation',
          spec: { names: [name], action: 'Delete' },
        }),
    ],
  ])('of the key by %s ends all tokens, and every exchange for one of its targets', async (_, end) => {
    const token = ciToken()
    const tokens = await tokensIn(await exchange(lifetime, token, at('eu', 'us')))
    await end(keyIn(tokens[0] ?? '').name)
    expect(await acceptedAt(tokens, ['eu', 'us'])).toEqual([false, false])
    for (const audiences of [at('eu', 'us'), at('eu'), at('us'), at('asia', 'us')])
      expect(server.auditOf(await exchange(lifetime, token, audiences)).reason).toBe('ended')
    expect((await exchange(lifetime, token, at('asia'))).status).toBe(200)
  })

  test('is not a report of a leak, which knows values only: who has a token revokes it', async () => {
    const tokens = await tokensIn(await exchange(lifetime, ciToken(), at('eu', 'us')))
    const { status } = await server.post('/leaks', { credentials: tokens }, '')
    expect([status, await acceptedAt(tokens, ['eu', 'us'])]).toEqual([202, [true, true]])
    for (const token of tokens) expect((await revoke(token)).json).toEqual({ revoked: true })
    expect(await acceptedAt(tokens, ['eu', 'us'])).toEqual([false, false])
  })

  // threat: exchange-60
  test('of one token outlives a restore, which makes no key of an exchange again', async () => {
    const token = ciToken()
    const tokens = await tokensIn(await exchange(lifetime, token, at('eu', 'us')))
    await revoke(tokens[0] ?? '')
    const { name } = keyIn(tokens[0] ?? '')
    // What the restore leaves out: the row of the key and its credential. It keeps the records of ID tokens, and of what has ended.
    const { storage } = server.parts
    const stored = await storage.get(OwnedAccessKey.table, name)
    const { credential } = decodeKeyInternal(stored?.internal ?? {})
    await storage.update(OwnedAccessKey.table, name, () => ({ type: 'delete' }), { deadline: endless })
    await storage.writeCompanion({ ...credentialItemKey(credential), attributes: null }, { deadline: endless })
    expect(await acceptedAt(tokens, ['eu', 'us'])).toEqual([false, false])
    for (const one of tokens) expect((await revoke(one)).text).toBe('')
    for (const audiences of [at('eu', 'us'), at('eu')])
      expect(server.auditOf(await exchange(lifetime, token, audiences)).reason).toBe('ended')
    // The other target was ended by nobody: it gets another key.
    const [us = ''] = await tokensIn(await exchange(lifetime, token, at('us')))
    expect([await isAccepted(us, 'us'), keyIn(us).name === name]).toEqual([true, false])
  })

  test.each(['trust', 'provider'])('of the %s ends all tokens', async (what) => {
    const name = `closing-${what}`
    const issuer = `https://${name}.example.com`
    const jwks = federation.issuer.jwks()
    await server.make(providers, provider(name, { issuer, type: 'OIDC', jwks, tokenUse: 'Lifetime' }))
    const client = await trustOf(name, { identityProvider: name })
    const token = federation.issuer.sign({ iss: issuer, sub: 'job', aud: server.base, jti: name })
    const tokens = await tokensIn(await exchange(client, token, at('eu', 'us')))
    const plural = what === 'trust' ? 'federatedidentitycredentials' : 'identityproviders'
    await server.patch(`${management}/${plural}/${name}`, { spec: { disabled: true } })
    expect(await acceptedAt(tokens, ['eu', 'us'])).toEqual([false, false])
  })

  test('of one token is in what the review of the key says about its cluster', async () => {
    const [eu = ''] = await tokensIn(
      await exchange(lifetime, ciToken(), ['clusters/eu', 'virtualclusters/shop/dev', 'clusters/us']),
    )
    await revoke(eu)
    const review = async (target: object) => {
      const spec = { target, resourceAttributes: { verb: 'get', resource: 'pods' } }
      const { json } = await server.post(`${keys}/${keyIn(eu).name}/accessreview`, { spec })
      return json.status.steps[0].allowed
    }
    const virtualCluster = { project: 'shop', name: 'dev' }
    expect([
      await review({ cluster: 'eu' }),
      await review({ cluster: 'us' }),
      await review({ virtualCluster }),
    ]).toEqual([false, true, true])
  })

  // threat: exchange-60
  test('of all tokens at the same time ends the key', async () => {
    const tokens = await tokensIn(await exchange(once, federation.sign(), at('asia', 'eu', 'us')))
    await Promise.all([...tokens, ...tokens].map(revoke))
    expect((await server.call(`${keys}/${keyIn(tokens[0] ?? '').name}`)).status).toBe(404)
  })

  test('that dies at any of its steps is completed by the next one', async () => {
    const [eu = '', us = ''] = await tokensIn(await exchange(lifetime, ciToken(), at('eu', 'us')))
    for (let step = 0; step < 2; step++) {
      let left = step
      const storage = new Proxy(server.parts.storage, {
        get: (target, name, receiver) =>
          name === 'writeCompanion' && left-- === 0
            ? () => Promise.reject(new Error('killed'))
            : Reflect.get(target, name, receiver),
      })
      const form = new Map([['token', eu]])
      const call = { requestId: 'r', headers: {}, form, now: new Date(), deadline: endless, note: () => undefined }
      await expect(revokeToken(call, Object.create(server.parts, { storage: { value: storage } }))).rejects.toThrow(
        'killed',
      )
      expect(await acceptedAt([eu, us], ['eu', 'us'])).toEqual([true, true])
    }
    expect((await revoke(eu)).json).toEqual({ revoked: true })
    expect(await acceptedAt([eu, us], ['eu', 'us'])).toEqual([false, true])
  })
})

describe('clusters whose service accounts issue the tokens', () => {
  async function begin() {
    const cluster = await startAccountCluster()
    cluster.accounts.add('keyplane/team.shop')
    const { name } = cluster
    await server.services.setSecret(`keyplane/local/clusters/${name}`, cluster.kubeConfig)
    await makeCluster(name, { tokens: 'ServiceAccounts' })
    return { cluster, name }
  }
  const beginMany = async (times: number) => {
    const all: { cluster: AccountCluster; name: string }[] = []
    for (let index = 0; index < times; index++) all.push(await begin())
    const own = { clusters: [...all.map(({ name }) => name), 'eu'].map((cluster) => ({ cluster })) }
    const last = all.at(-1)?.name ?? ''
    const more = { identityProvider: 'ci', claims: [{ claim: 'sub', values: ['job'] }], scope: own }
    return {
      all,
      audiences: at(...all.map(({ name }) => name)),
      client: await federation.trust(`of-${last}`, { scope: own }),
      lasting: await federation.trust(`lasting-${last}`, more),
    }
  }
  const secretsOf = (all: readonly { cluster: AccountCluster }[]) => all.map(({ cluster }) => cluster.secrets.size)

  /** Answers an exchange in this process, with other parts of the server. */
  function exchangeWith(other: Partial<typeof server.parts>, sent: string, deadline: Deadline = endless) {
    const call = { requestId: 'r', headers: kubeConfig, form: decodeForm(sent), now: new Date(), deadline }
    // biome-ignore lint/suspicious/noExplicitAny: the parts of a server that the exchange uses.
    const parts: any = Object.create(server.parts, {
      ...Object.getOwnPropertyDescriptors(other),
      ...exchangeParts(server.parts.storage),
      storeOf: { value: (kind: typeof OwnedAccessKey) => storeOf(kind, parts) },
    })
    return runExchange({ ...call, note: () => undefined }, parts)
  }

  test('are asked side by side, beside others that verify tokens', async () => {
    const { all, audiences, client } = await beginMany(2)
    const answer = await exchange(client, federation.sign(), [...audiences, 'clusters/eu'])
    const [first = '', second = '', eu = ''] = await tokensIn(answer)
    expect([all[0]?.cluster.accepts(first), all[1]?.cluster.accepts(second)]).toEqual([true, true])
    expect(await isAccepted(eu, 'eu')).toBe(true)
    expect(all[1]?.cluster.accepts(first)).toBe(false)
  })

  // threat: exchange-59
  test('may be five, and six are refused before any of them is asked', async () => {
    const { all, audiences, client } = await beginMany(6)
    const token = federation.sign()
    const answer = await exchange(client, token, audiences)
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.stringContaining('more than 5')])
    expect(all.flatMap(({ cluster }) => cluster.calls)).toEqual([])
    const five = await exchange(client, token, audiences.slice(1))
    expect([(await tokensIn(five)).length, secretsOf(all)]).toEqual([5, [0, 1, 1, 1, 1, 1]])
  })

  test('of which one fails is named, and neither key nor Secret is left', async () => {
    const { all, audiences, client } = await beginMany(3)
    const failing = all[1]
    if (!failing) throw new Error('no cluster')
    failing.cluster.plays.token = ({ answer }) => answer(500, { kind: 'Status', status: 'Failure', code: 500 })
    const before = await countKeys()
    const token = federation.sign()
    const answer = await exchange(client, token, [...audiences, 'clusters/eu'])
    expect(errorOf(answer)).toEqual([
      503,
      'temporarily_unavailable',
      expect.stringContaining(`clusters/${failing.name}: `),
    ])
    await publishEvents()
    await endSecrets()
    expect([await countKeys(), secretsOf(all)]).toEqual([before, [0, 0, 0]])
    failing.cluster.plays = {}
    expect((await tokensIn(await exchange(client, token, audiences))).length).toBe(3)
  })

  // threat: exchange-59
  test('leave time to say which one is away, of 20 targets, and to give the ID token back', async () => {
    const { all, audiences } = await beginMany(5)
    const flagged = Array.from({ length: 15 }, (_, index) => `away-${index}`)
    for (const name of flagged) await makeCluster(name)
    const targets = [...audiences, ...at(...flagged)]
    const wide = { clusters: targets.map((one) => ({ cluster: one.replace('clusters/', '') })) }
    const client = await federation.trust('away', { scope: wide })
    const away = all[2]
    if (!away) throw new Error('no cluster')

    // Time passes only while the cluster that is away is waited for.
    let spent = 0
    let asked = ''
    const waits: AbortController[] = []
    const waited: number[] = []
    const { serviceAccounts } = server.parts
    const accounts: typeof serviceAccounts = {
      ...serviceAccounts,
      connect(label, ...rest) {
        asked = label
        return serviceAccounts.connect(label, ...rest)
      },
      deadline(ms) {
        const wait = new AbortController()
        if (asked !== away.name) return wait.signal
        waits.push(wait)
        waited.push(ms)
        return wait.signal
      },
    }
    const isAway = () => {
      spent += waited.at(-1) ?? 0
      waits.at(-1)?.abort(new DOMException('it is away', 'TimeoutError'))
    }
    away.cluster.plays = { create: isAway, delete: isAway }
    const start = Date.now()
    const clocks = { now: () => new Date(start + spent), elapsed: () => spent }
    const sent = formOf(client, federation.sign(), targets)
    const before = await countKeys()
    await expect(
      exchangeWith({ serviceAccounts: accounts }, sent, requestDeadline(clocks, start)),
    ).rejects.toMatchObject({
      reason: 'cluster',
      message: expect.stringContaining(`clusters/${away.name}: `),
    })
    // The cluster gets its 15 seconds, and the removal less than what is left of the 20 of a function. The gateway waits for 29.
    expect([waited, spent]).toEqual([[15_000, 3000], 18_000])
    expect(await countKeys()).toBe(before)
    away.cluster.plays = {}
    const again = await sendForm(server, tokenPath, sent, kubeConfig)
    expect((await tokensIn(again)).length).toBe(20)
  })

  // threat: exchange-60
  test('whose exchange dies at any of its steps leave nothing behind the key, and the next one gets all tokens', async () => {
    const { all, audiences, lasting } = await beginMany(2)
    const targets = [...audiences, 'clusters/eu']
    const { storage, serviceAccounts } = server.parts
    let last = 0
    for (let isAnswered = false; !isAnswered; last++) {
      let step = 0
      const mortal = <T extends object>(part: T): T =>
        new Proxy(part, {
          get(target, name, receiver) {
            const member = Reflect.get(target, name, receiver)
            if (typeof member !== 'function') return member
            return async (...asked: unknown[]) => {
              if (++step > last) throw new Error('killed')
              return member.apply(target, asked)
            }
          },
        })
      const accounts: typeof serviceAccounts = {
        ...serviceAccounts,
        records: mortal(serviceAccounts.records),
        connect: (...asked) => mortal(serviceAccounts.connect(...asked)),
      }
      const token = ciToken()
      const parts = { storage: mortal(storage), serviceAccounts: accounts }
      const outcome = await exchangeWith(parts, formOf(lasting, token, targets)).catch(({ message }: Error) => message)
      isAnswered = outcome !== 'killed'
      const answer = await exchange(lasting, token, targets)
      const [first = '', second = '', eu = ''] = await tokensIn(answer)
      const accepted = [all[0]?.cluster.accepts(first), all[1]?.cluster.accepts(second), await isAccepted(eu, 'eu')]
      expect([last, accepted]).toEqual([last, [true, true, true]])
      await server.call(`${keys}/${keyIn(eu).name}`, { method: 'DELETE' })
    }
    await publishEvents()
    await endSecrets()
    expect([last > 10, secretsOf(all)]).toEqual([true, [0, 0]])
  })

  test('of which one lacks the account are not named by a refusal before all may be used', async () => {
    const { all, audiences, client } = await beginMany(2)
    all[0]?.cluster.accounts.delete('keyplane/team.shop')
    const answer = await exchange(client, federation.sign(), [...audiences, 'clusters/us'])
    expect(errorOf(answer)).toEqual([400, 'invalid_target', expect.stringContaining('one of these targets')])
    const other = await exchange(client, federation.sign(), audiences)
    expect(errorOf(other)).toEqual([400, 'invalid_target', expect.stringContaining(`clusters/${all[0]?.name}: `)])
  })

  // threat: exchange-60
  test('each end by themselves', async () => {
    const { all, audiences, lasting } = await beginMany(2)
    const token = ciToken()
    const [first = '', second = '', eu = ''] = await tokensIn(
      await exchange(lasting, token, [...audiences, 'clusters/eu']),
    )
    const accepted = async () => [
      all[0]?.cluster.accepts(first),
      all[1]?.cluster.accepts(second),
      await isAccepted(eu, 'eu'),
    ]
    expect((await revoke(first)).json).toEqual({ revoked: true })
    expect(await accepted()).toEqual([false, true, true])
    expect(server.auditOf(await exchange(lasting, token, audiences)).reason).toBe('ended')
    await revoke(eu)
    expect(await accepted()).toEqual([false, true, false])
    const { name } = keyIn(eu)
    expect((await server.call(`${keys}/${name}`)).status).toBe(200)
    await revoke(second)
    expect([await accepted(), (await server.call(`${keys}/${name}`)).status]).toEqual([[false, false, false], 404])
  })

  // threat: exchange-60
  test('end the token of a cluster that was deleted, or has moved, since it was issued', async () => {
    const { all, audiences, lasting } = await beginMany(3)
    const [gone, moved] = all as [(typeof all)[0], (typeof all)[0]]
    const tokens = await tokensIn(await exchange(lasting, ciToken(), [...audiences, 'clusters/eu']))
    const accepted = () => all.map(({ cluster }, index) => cluster.accepts(tokens[index] ?? ''))
    expect((await server.call(`${clusters}/${gone.name}`, { method: 'DELETE' })).status).toBe(200)
    const elsewhere = await startAccountCluster()
    await server.patch(`${clusters}/${moved.name}`, { spec: { server: 'https://elsewhere.example.com' } })
    const stored = JSON.parse(moved.cluster.kubeConfig)
    stored.clusters[0].cluster = JSON.parse(elsewhere.kubeConfig).clusters[0].cluster
    await server.services.setSecret(`keyplane/local/clusters/${moved.name}`, JSON.stringify(stored))
    expect((await revoke(tokens[0] ?? '')).json).toEqual({ revoked: true })
    // The stored credentials do not lead to where the token works any more. The answer says so, and the function goes on trying.
    expect((await revoke(tokens[1] ?? '')).json).toEqual({ revoked: true, unconfirmed: [moved.name] })
    expect([accepted(), await isAccepted(tokens[3] ?? '', 'eu')]).toEqual([[false, true, true], true])
    const { name } = keyIn(tokens[3] ?? '')
    expect((await server.call(`${keys}/${name}`)).status).toBe(200)
    for (const token of tokens.slice(2)) expect((await revoke(token)).json).toEqual({ revoked: true })
    expect([accepted(), (await server.call(`${keys}/${name}`)).status]).toEqual([[false, true, false], 404])
  })

  // threat: exchange-60
  test('answer nothing for a target that was ended while they were asked', async () => {
    const { all, audiences, lasting } = await beginMany(2)
    const token = ciToken()
    const [first = ''] = await tokensIn(await exchange(lasting, token, audiences))
    const slow = all[1]
    if (!slow) throw new Error('no cluster')
    slow.cluster.plays.token = async ({ proceed }) => {
      slow.cluster.plays = {}
      await revoke(first)
      await proceed()
    }
    expect(server.auditOf(await exchange(lasting, token, audiences)).reason).toBe('ended')
  })
})
