/**
 * Crosses every cause of an end with everything that hangs on a key. The rule: a key that gives access again revives its value and the
 * keys that it made, and what was issued stays dead. A new cause is a row, and a new thing that hangs on a key a column.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { type AccountCluster, startAccountCluster } from '../support/accountcluster.ts'
import { type Federation, provider, providers, startFederation, trusts } from '../support/federation.ts'
import { apiVersion, clusters, keys, management } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import { revocations } from '../support/revocations.ts'
import type { MadeKey } from '../support/server.ts'
import { endSecrets, publishEvents, useServer, whileFunctionsRun } from '../support/sharedserver.ts'
import { endAsUnused } from '../support/unusedkeys.ts'
import { contextOf } from '../support/users.ts'
import { parseYaml } from '../support/yaml.ts'

const server = useServer()
let federation: Federation
/** The key with which cluster `eu` asks for reviews. */
let agent: MadeKey
let count = 0

beforeAll(async () => {
  federation = await startFederation(server)
  agent = await server.makeKey({ user: 'agent', scope: { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] } })
  return () => federation.close()
})

/** What hangs on a key. Each reports whether it still works. */
interface Things {
  /** The value, for this API. Nothing caches it: each request asks the authorizer. */
  value: () => Promise<boolean>
  /** A token of this issuer, at a cluster that asks for each request. It is what plugins of clients cache. */
  token: () => Promise<boolean>
  /** A token that a cluster has bound to a Secret, after the functions for it have run. */
  secret: () => Promise<boolean>
  /** A watch: it ends within 20 seconds when this is false. */
  watch: () => Promise<boolean>
  /** A key that the key made, such as that of a session. Keys of exchanges make none. */
  made?: () => Promise<boolean>
  /** An equal repeat of an exchange for a token. Only exchanges have one. */
  repeat?: () => Promise<boolean>
}

type Thing = keyof Things

/** A key with everything that hangs on it. */
interface World extends Things {
  /** The names of what the key depends on: of a plain key, or of one of an exchange. */
  name: string
  maker: string
  trust: string
  provider: string
  /** The cluster whose tokens are bound to Secrets. */
  account: string
  /** The text of the value of a plain key. */
  text: string
  /** Issues everything once more. */
  issue(): Promise<Things>
}

const nobody = { name: '', maker: '', trust: '', provider: '', text: '' }

const works = (answer: Answer): boolean => answer.status < 300

async function mayList(token: string): Promise<boolean> {
  // biome-ignore lint/suspicious/noExplicitAny: the private claim.
  const claims = decodeJwt(token) as any
  const { key, scopes } = claims['management.platform']
  const spec = {
    user: claims.sub,
    groups: claims.groups,
    extra: {
      'management.platform/access-key': [key.name],
      'management.platform/access-key-uid': [key.uid],
      'management.platform/scopes': [scopes],
      'management.platform/target': ['clusters/eu'],
      'management.platform/issued-at': [String(claims.iat)],
    },
    resourceAttributes: { namespace: 's', verb: 'list', version: 'v1', resource: 'pods' },
  }
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
  const { json } = await server.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', body, agent.token)
  return json.status.denied !== true
}

async function userOf(value: string): Promise<UserInfo> {
  const found = await server.parts.authenticate(value)
  if (!('user' in found)) throw new Error('the key gives no access')
  return { ...found.user, credential: found.credential }
}

/** Makes what can be issued with a value. */
async function issueWith(value: string, cluster: AccountCluster, account: string): Promise<Things> {
  const asked = await server.post(
    `${management}/directclusterendpointtokens`,
    { spec: { ttl: 3600, scope: { clusters: [{ cluster: 'eu' }] } } },
    value,
  )
  const config = await server.post(`${clusters}/${account}/kubeconfig`, { spec: {} }, value)
  expect([asked.status, config.status]).toEqual([201, 201])
  const bound: string = (await parseYaml(config.json.status.kubeConfig)).users[0].user.token
  const context = contextOf(await userOf(value))
  const generation = await server.parts.currentGeneration(context)
  return {
    value: async () => works(await server.post(`${management}/selves`, {}, value)),
    token: () => mayList(asked.json.status.token),
    async secret() {
      await publishEvents()
      await endSecrets()
      return cluster.accepts(bound)
    },
    watch: async () => (await server.parts.currentGeneration(context)) === generation,
  }
}

async function accountCluster(): Promise<{ cluster: AccountCluster; account: string }> {
  const cluster = await startAccountCluster()
  cluster.accounts.add('keyplane/team.shop').add('keyplane/user.alice.view')
  const account = cluster.name
  await server.services.setSecret(`keyplane/local/clusters/${account}`, cluster.kubeConfig)
  const access = [{ verbs: ['get', 'create'], subresources: ['kubeconfig'], users: ['alice'], teams: ['shop'] }]
  const spec = { server: `https://${account}.example.com`, tokens: 'ServiceAccounts', access }
  await server.make(clusters, { apiVersion, kind: 'Cluster', metadata: { name: account }, spec })
  return { cluster, account }
}

/** Makes a key of alice with a key of an administrator, and everything that hangs on it. */
async function plainWorld(spec: object = {}): Promise<World> {
  const { cluster, account } = await accountCluster()
  const maker = await server.makeKey({ groups: ['system:masters'] })
  const { name, token } = await server.makeKey({ user: 'alice', groups: ['a', 'b'], ...spec }, {}, maker.token)
  const child = await server.makeKey({ ttl: 600 }, {}, token)
  const issue = () => issueWith(token, cluster, account)
  const made = async () => works(await server.post(`${management}/selves`, {}, child.token))
  return { ...(await issue()), ...nobody, made, issue, name, text: token, account, maker: maker.name }
}

/** Exchanges an ID token for a key, and for a token of cluster eu. */
async function exchangedWorld(): Promise<World> {
  const { cluster, account } = await accountCluster()
  const issuer = `https://ci-${++count}.example.com`
  const named = `issuer-${count}`
  const jwks = federation.issuer.jwks()
  await server.make(providers, provider(named, { issuer, type: 'OIDC', jwks, tokenUse: 'Lifetime' }))
  const trust = `trust-${count}`
  const claims = [{ claim: 'sub', values: ['job'] }]
  const scope = { clusters: [{ cluster: 'eu' }, { cluster: account }] }
  const client = await federation.trust(trust, { identityProvider: named, claims, scope, team: 'shop' })
  let jti = 0
  const sign = () => federation.issuer.sign({ iss: issuer, sub: 'job', aud: server.base, jti: `${trust}-${++jti}` })
  async function issue(): Promise<Things> {
    const { json } = await federation.exchange(client, sign())
    const idToken = sign()
    const forTarget = () => federation.exchange(client, idToken, { audience: 'clusters/eu' })
    expect((await forTarget()).status).toBe(200)
    return { ...(await issueWith(json.access_token, cluster, account)), repeat: async () => works(await forTarget()) }
  }
  const things = await issue()
  return { ...things, ...nobody, issue, account, trust, provider: named }
}

type Expected = Partial<Record<Thing, boolean>>

/** A cause, what works when it has happened and, if it can be taken back, what works then. */
interface Row {
  cause: string
  spec?: object
  act(world: World): Promise<unknown>
  after: Expected
  undo?(world: World): Promise<unknown>
  back?: Expected
}

const patchKey = ({ name }: World, spec: object) => server.patch(`${keys}/${name}`, { spec })
const patchTrust = ({ trust }: World, spec: object) => server.patch(`${trusts}/${trust}`, { spec })
const patchProvider = ({ provider: name }: World, spec: object) => server.patch(`${providers}/${name}`, { spec })
const patchCluster = ({ account }: World, spec: object) => server.patch(`${clusters}/${account}`, { spec })
const remove = (path: string) => server.call(path, { method: 'DELETE' })
const aSecond = () => delay(1100)

const revoke = (spec: object) =>
  whileFunctionsRun(server.post(revocations, { apiVersion, kind: 'AccessKeyRevocation', spec }))

async function whileNobodyUses({ name }: Pick<World, 'name'>): Promise<Answer> {
  expect(await endAsUnused(server.parts, name)).toBe(1)
  return server.call(`${keys}/${name}`)
}

const none: Expected = { value: false, token: false, secret: false, watch: false }
/** The value and what it made live, and nothing that was issued. */
const valueOnly: Expected = { value: true, token: false, secret: false, watch: false }

/** Keys that the key made go on in every row: their own chain says what they may do. */
const ofKeys: Row[] = [
  {
    cause: 'disabled',
    act: (world) => patchKey(world, { disabled: true }),
    after: none,
    undo: (world) => patchKey(world, { disabled: false }),
    back: valueOnly,
  },
  {
    cause: 'expired, by a shorter ttl',
    spec: { ttl: 3600 },
    act: async (world) => {
      await aSecond()
      return patchKey(world, { ttl: 1 })
    },
    after: none,
    undo: (world) => patchKey(world, { ttl: 3600 }),
    back: valueOnly,
  },
  { cause: 'deleted', act: ({ name }) => remove(`${keys}/${name}`), after: none },
  {
    cause: 'marked for deletion, with a finalizer',
    act: async (world) => {
      await server.patch(`${keys}/${world.name}`, { metadata: { finalizers: ['example.com/held'] } })
      return remove(`${keys}/${world.name}`)
    },
    after: none,
  },
  {
    cause: 'narrowed to another cluster',
    act: (world) => patchKey(world, { scope: { clusters: [{ cluster: 'other' }] } }),
    after: valueOnly,
    undo: (world) => patchKey(world, { scope: null }),
    back: valueOnly,
  },
  {
    cause: 'narrowed to role view',
    act: (world) =>
      patchKey(world, {
        scope: { roles: [{ role: 'view' }], clusters: [{ cluster: 'eu' }, { cluster: world.account }] },
      }),
    // Listing is what the role allows, and the account is another one.
    after: { value: true, token: true, secret: false, watch: false },
    undo: (world) => patchKey(world, { scope: null }),
    back: valueOnly,
  },
  {
    cause: 'taken out of a group',
    act: (world) => patchKey(world, { groups: ['b'] }),
    after: valueOnly,
    undo: (world) => patchKey(world, { groups: ['a', 'b'] }),
    back: valueOnly,
  },
  {
    cause: 'given to another user',
    act: (world) => patchKey(world, { user: 'bob' }),
    after: valueOnly,
    undo: (world) => patchKey(world, { user: 'alice' }),
    back: valueOnly,
  },
  {
    cause: 'given another value at once',
    act: (world) => patchKey(world, { key: `a-value-that-somebody-has-brought-along-${++count}` }),
    after: none,
  },
  {
    cause: 'rotated without an overlap',
    async act({ name }) {
      const spec = { overlapSeconds: 0 }
      const started = await server.post(`${keys}/${name}/rotate`, { spec })
      await server.post(`${management}/selves`, {}, started.json.status.key)
      // Any write settles the rotation, and so does the publisher of events each hour.
      await server.patch(`${keys}/${name}`, { metadata: { labels: { settled: 'true' } } })
      return started
    },
    after: none,
  },
  {
    cause: 'reported as leaked',
    act: ({ text }) => server.post('/leaks', { credentials: [text] }, ''),
    after: none,
  },
  {
    cause: 'disabled by a revocation',
    act: ({ name }) => revoke({ action: 'Disable', names: [name] }),
    after: none,
    undo: (world) => patchKey(world, { disabled: false }),
    back: valueOnly,
  },
  { cause: 'deleted by a revocation', act: ({ name }) => revoke({ action: 'Delete', names: [name] }), after: none },
  { cause: 'unused for too long', act: (world) => whileNobodyUses(world), after: none },
  {
    cause: 'of a maker that is deleted',
    act: ({ maker }) => remove(`${keys}/${maker}`),
    after: { value: true, token: true, secret: true, watch: true },
  },
  {
    cause: 'limited to addresses',
    act: (world) => patchKey(world, { sourceCIDRs: ['127.0.0.0/8', '::1'] }),
    after: { value: true, token: true, secret: true, watch: false },
  },
]

const closed: Expected = { ...none, repeat: false }
const onlySecret: Expected = { value: true, token: true, secret: false, watch: true, repeat: true }

const ofExchanges: Row[] = [
  {
    cause: 'trust disabled',
    act: (world) => patchTrust(world, { disabled: true }),
    after: closed,
    undo: (world) => patchTrust(world, { disabled: false }),
    back: { ...valueOnly, repeat: false },
  },
  {
    cause: 'trust changed',
    act: (world) => patchTrust(world, { claims: [{ claim: 'sub', values: ['job', 'other'] }] }),
    after: { ...none, repeat: true },
    undo: (world) => patchTrust(world, { claims: [{ claim: 'sub', values: ['job'] }] }),
    back: { ...none, repeat: true },
  },
  { cause: 'trust deleted', act: ({ trust }) => remove(`${trusts}/${trust}`), after: closed },
  {
    cause: 'provider disabled',
    act: (world) => patchProvider(world, { disabled: true }),
    after: closed,
    undo: (world) => patchProvider(world, { disabled: false }),
    back: { ...valueOnly, repeat: false },
  },
  {
    cause: 'provider changed',
    act: (world) => patchProvider(world, { maxTokenAge: 600 }),
    after: { ...none, repeat: true },
  },
  { cause: 'provider deleted', act: ({ provider: name }) => remove(`${providers}/${name}`), after: closed },
  {
    cause: 'namespace of the cluster changed',
    act: (world) => patchCluster(world, { serviceAccounts: { namespace: 'elsewhere' } }),
    after: onlySecret,
    async undo(world) {
      const answer = await patchCluster(world, { serviceAccounts: null })
      // A Secret of the second in which the cluster has changed is dead.
      await aSecond()
      return answer
    },
    back: onlySecret,
  },
  { cause: 'cluster deleted', act: ({ account }) => remove(`${clusters}/${account}`), after: onlySecret },
]

const stateOf = async (things: Things): Promise<Expected> =>
  Object.fromEntries(
    await Promise.all(
      (['value', 'token', 'secret', 'watch', 'made', 'repeat'] as const)
        .filter((thing) => things[thing])
        .map(async (thing) => [thing, await things[thing]?.()]),
    ),
  )

/** Plays a row: everything works, then what the row says, and what is issued after the cause was taken back works. */
async function play(world: World, { act, after, undo, back }: Row): Promise<void> {
  const rest: Expected = { ...(world.made && { made: true }) }
  expect(Object.values(await stateOf(world))).not.toContain(false)
  const acted = (await act(world)) as Answer
  expect([acted.status, acted.text]).toEqual([expect.toSatisfy((status) => status < 300), acted.text])
  expect(await stateOf(world)).toEqual({ ...rest, ...after })
  if (!undo || !back) return
  expect(works((await undo(world)) as Answer)).toBe(true)
  expect(await stateOf(world)).toEqual({ ...rest, ...back })
  expect(Object.values(await stateOf(await world.issue()))).not.toContain(false)
}

describe('a key that is', () => {
  test.each(ofKeys)('$cause', async (row) => play(await plainWorld(row.spec), row))
})

test('nothing revives a key that was unused for too long', async () => {
  const { name, token } = await server.makeKey({ user: 'alice' })
  await whileNobodyUses({ name })
  const { json } = await server.post(`${management}/selves`, {}, token)
  expect([json.code, json.message]).toEqual([401, 'access key has ended, because nobody used it for too long'])
  const final = 'nobody used the access key for too long, so it has ended for good: make another one'
  const enabled = await server.patch(`${keys}/${name}`, { spec: { disabled: false } })
  expect([enabled.status, enabled.json.message]).toEqual([
    422,
    expect.stringContaining(`spec.disabled: Forbidden: ${final}`),
  ])
  const given = await server.patch(`${keys}/${name}`, {
    spec: { disabled: null, key: `another-value-of-this-key-${++count}` },
  })
  expect(given.status).toBe(422)
  const rotated = await server.post(`${keys}/${name}/rotate`, { spec: {} })
  expect([rotated.status, rotated.json.message]).toEqual([409, expect.stringContaining(final)])
  const looked = await server.post(`${management}/accesskeylookups`, { spec: { key: token } })
  const { status } = (await server.call(`${keys}/${name}`)).json
  expect([looked.json.status.phase, status.phase]).toEqual(['Unused', 'Unused'])
  const review = { spec: { resourceAttributes: { verb: 'list', resource: 'pods' }, target: { cluster: 'eu' } } }
  const explained = (await server.post(`${keys}/${name}/accessreview`, review)).json.status
  expect([explained.allowed, explained.reason]).toEqual([false, json.message])
  // It may have leaked all the same.
  expect((await server.post('/leaks', { credentials: [token] }, '')).status).toBe(202)
  expect((await server.call(`${keys}/${name}`)).json.status).toMatchObject({ phase: 'Unused', leak: {} })
})

describe('an exchange, with its', () => {
  test.each(ofExchanges)('$cause', async (row) => play(await exchangedWorld(), row))
})
