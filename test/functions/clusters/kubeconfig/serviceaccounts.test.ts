/** Tests kube configs of clusters whose service accounts issue the tokens, from the request to the end of the key. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import { type IssueServices, issueAccountToken } from '../../../../lib/clusters/boundtokens.ts'
import type { ClusterClient } from '../../../../lib/clusters/cluster/client.ts'
import { Cluster } from '../../../../lib/clusters/cluster.ts'
import { clusterTarget } from '../../../../lib/clusters/serviceaccounts/target.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { OwnedAccessKey } from '../../../../lib/keys/ownedaccesskey.ts'
import { type AccountCluster, startAccountCluster } from '../../../support/accountcluster.ts'
import { endless, unhurried } from '../../../support/deadlines.ts'
import { useFunctions } from '../../../support/functions.ts'
import { admin, withScopes } from '../../../support/users.ts'
import { parseYaml } from '../../../support/yaml.ts'
import { callsOf, clusters } from '../../stored/fixtures.ts'

const functions = useFunctions()
const calls = callsOf(functions, clusters)
const json = { accept: 'application/json', 'content-type': 'application/json' }
let count = 0
/** The values of keys, by their names. */
const values = new Map<string, string>()

/** Starts a cluster, registers it and makes a key of alice. */
async function begin({ key = {}, spec = {} }: { key?: JsonObject; spec?: JsonObject } = {}) {
  const cluster = await startAccountCluster()
  const name = `c${++count}`
  await functions.get().services.setSecret(`keyplane/local/clusters/${name}`, cluster.kubeConfig)
  const access = [{ verbs: ['use'], users: ['alice'] }]
  await calls.make({ name }, { server: 'https://eu.example.com', tokens: 'ServiceAccounts', access, ...spec })
  return { cluster, name, user: await keyOf(`key-${name}`, { user: 'alice', ...key }) }
}

/** Makes a key, and returns the user of requests with it. */
async function keyOf(name: string, spec: JsonObject): Promise<UserInfo> {
  const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata: { name }, spec }
  const made = await functions.invoke('ownedaccesskeys/create', { user: admin, headers: json, body, query: {} })
  values.set(name, made.json.spec.key)
  const authenticated = await functions.get().parts.authenticate(made.json.spec.key)
  if (!('user' in authenticated)) throw new Error('the key gives no access')
  return { ...authenticated.user, credential: authenticated.credential }
}

async function change(name: string, spec: object): Promise<void> {
  const headers = { ...json, 'content-type': 'application/merge-patch+json' }
  const request = { user: admin, parameters: { name }, headers, body: { spec }, query: {} }
  const { status, text } = await functions.invoke('ownedaccesskeys/patch', request)
  expect([status, text]).toEqual([200, expect.any(String)])
}

const fetch = (name: string, user: UserInfo, spec: object = {}, more: object = {}) =>
  functions.invoke('clusters/kubeconfig/create', {
    user,
    parameters: { name },
    headers: json,
    body: { apiVersion: 'management.platform/v1', kind: 'ClusterKubeConfig', metadata: {}, spec },
    ...more,
  })

const tokenIn = async (answer: { json: { status: { kubeConfig: string } } }): Promise<string> =>
  (await parseYaml(answer.json.status.kubeConfig)).users[0].user.token

const bound = async () => (await functions.get().store.all()).filter(({ pk }) => pk.startsWith('bound#'))
const boundOf = async ({ key: { uid } }: UserInfo) => (await bound()).filter(({ pk }) => pk === `bound#${uid}`)

/** Runs what an event and the next minute run. */
async function endings(): Promise<void> {
  await functions.run('lifecycle')
  await functions.run('boundsecrets')
}

test.each([{ proxyURL: 'http://proxy.example.com' }, { tlsServerName: 'eu.internal' }])(
  'a cluster with %j says that this service connects directly, if it has to',
  async (network) => {
    const warningFor = async (more: object) => {
      const spec = { server: 'https://eu.example.com', ...network, ...more }
      const body = { apiVersion: 'management.platform/v1', kind: 'Cluster', metadata: { name: `n${++count}` }, spec }
      return (await functions.invoke('clusters/create', { user: admin, headers: json, body, query: {} })).headers
        .warning
    }
    expect(await warningFor({})).toBeUndefined()
    expect(String(await warningFor({ tokens: 'ServiceAccounts' }))).toContain('this service connects directly')
  },
)

describe('with role view', () => {
  const viewOf = (name: string) => ({ roles: [{ role: 'view' }], clusters: [{ cluster: name }] })
  async function beginView() {
    const begun = await begin()
    const { name, cluster } = begun
    cluster.accounts.add('keyplane/user.alice.view')
    const key = `view-${name}`
    return { ...begun, key, viewer: await keyOf(key, { user: 'alice', scope: viewOf(name) }) }
  }

  // threat: exchange-36
  test('a token is one of the account beside that of the user, whose RBAC decides', async () => {
    const { cluster, name, viewer } = await beginView()
    const answer = await fetch(name, viewer, { ttl: 3600 })
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
    expect(cluster.accepts(await tokenIn(answer))).toBe(true)
    expect(cluster.calls.at(-1)).toBe('POST /api/v1/namespaces/keyplane/serviceaccounts/user.alice.view/token')
    expect(String(answer.headers.warning)).toContain('what role view means inside the cluster is what its RBAC gives')
  })

  test('a missing account is a 422 with the commands that make it', async () => {
    const { cluster, name, viewer } = await beginView()
    cluster.accounts.delete('keyplane/user.alice.view')
    const { status, json: answer } = await fetch(name, viewer)
    expect([status, answer.message]).toEqual([422, expect.stringContaining('create serviceaccount user.alice.view -n')])
    expect(answer.message).toContain('create rolebinding user.alice.view --clusterrole=view')
  })

  // threat: exchange-36
  test('rules beside it are a 403', async () => {
    const { cluster, name } = await beginView()
    const scope = { ...viewOf(name), rules: [{ cluster: name, verbs: ['delete'] }] }
    const { status, text } = await fetch(name, await keyOf(`rules-${name}`, { user: 'alice', scope }))
    expect([status, text]).toEqual([403, expect.stringContaining('a service account cannot be scoped')])
    expect(cluster.calls).toEqual([])
  })

  // threat: exchange-36
  test.each([
    { change: 'narrowing to it', before: undefined, after: viewOf },
    { change: 'widening from it', before: viewOf, after: () => null },
  ])('$change ends the tokens of the other account, and makes those of the new one', async ({ before, after }) => {
    const { cluster, name } = await beginView()
    const key = `changed-${name}`
    const user = await keyOf(key, { user: 'alice', ...(before && { scope: before(name) }) })
    const token = await tokenIn(await fetch(name, user))
    const accounts = () => [...cluster.calls].flatMap((call) => /serviceaccounts\/(\S+)\/token/.exec(call)?.[1] ?? [])
    await change(key, { scope: after(name) })
    await endings()
    expect([cluster.secrets.size, cluster.accepts(token)]).toEqual([0, false])
    const { user: now } = (await functions.get().parts.authenticate(values.get(key) ?? '')) as { user: UserInfo }
    await delay(1100)
    const answer = await fetch(name, { ...now, ...(user.credential && { credential: user.credential }) })
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
    const both = ['user.alice', 'user.alice.view']
    expect(accounts()).toEqual(before ? both.toReversed() : both)
  })
})

describe('a kube config', () => {
  test('has a token of the account of the user, for which the second one needs one request', async () => {
    const { cluster, name, user } = await begin()
    const answer = await fetch(name, user, { ttl: 3600 })
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
    const token = await tokenIn(answer)
    expect(cluster.accepts(token)).toBe(true)
    expect(cluster.calls.map((call) => call.replace(/keyplane-.*$/, 'SECRET'))).toEqual([
      'POST /api/v1/namespaces/keyplane/secrets',
      'POST /api/v1/namespaces/keyplane/serviceaccounts/user.alice/token',
    ])
    expect(String(answer.headers.warning)).toContain('scopes of the access key are not enforced')
    const second = await fetch(name, user, { ttl: 3600 })
    expect(cluster.accepts(await tokenIn(second))).toBe(true)
    expect([cluster.calls.length, cluster.secrets.size, cluster.connections()]).toEqual([3, 1, 1])
    // The object, the place, the record, the key together with the record, and the uid of the Secret. Then the object, the record that is
    // there, and the key together with it.
    const counted = functions.get().log.flatMap((line) => JSON.parse(line).storageCalls ?? [])
    expect(counted.slice(-2)).toEqual([5, 3])
    const [only, ...others] = await boundOf(user)
    expect([others, only]).toEqual([[], expect.objectContaining({ account: 'user.alice', namespace: 'keyplane' })])
    // It is looked at when no request can be at work any more.
    expect(Number(only?.expiry) - Number(only?.since)).toBe(60)
  })

  test('of a dry run, and one that is refused, makes nothing', async () => {
    const { cluster, name, user } = await begin()
    expect(await fetch(name, user, {}, { query: { dryRun: 'All' } })).toMatchObject({
      status: 201,
      json: { status: {} },
    })
    expect((await fetch(name, user, { ttl: 599 })).json.details.causes).toMatchObject([{ field: 'spec.ttl' }])
    const narrow = withScopes(user, {
      clusters: [{ cluster: name }],
      rules: [],
    })
    expect((await fetch(name, narrow)).status).toBe(201)
    const narrower = withScopes(user, {
      rules: [{ verbs: ['get', 'create'], resources: [{ group: '*', resources: ['*'] }] }],
    })
    const refused = await fetch(name, narrower)
    expect([refused.status, refused.json.message]).toEqual([403, expect.any(String)])
    expect(cluster.secrets.size).toBe(1)
  })

  test('is refused for a key that ends within ten minutes', async () => {
    const { cluster, name, user } = await begin({ key: { ttl: 599 } })
    expect(await fetch(name, user)).toMatchObject({ status: 403, json: { message: expect.stringContaining('600') } })
    expect([cluster.calls, await boundOf(user)]).toEqual([[], []])
  })

  test('does not outlive its key, and is as short as the cluster makes it', async () => {
    const { cluster, name, user } = await begin({ key: { ttl: 1200 } })
    const ends = Date.parse((await fetch(name, user)).json.status.expirationTimestamp)
    expect(ends).toBeLessThanOrEqual((user.key.expires ?? 0) * 1000 + 1000)
    cluster.ahead = -300
    const { headers } = await fetch(name, user)
    expect(String(headers.warning)).toContain('by the cluster')
  })

  test('is a 422 with the commands if the account does not exist, and leaves nothing', async () => {
    const { cluster, name, user } = await begin({ key: { user: 'Bob@example.com' } })
    const answer = await fetch(name, { ...user, groups: ['system:masters', ...user.groups] })
    expect(answer.status).toBe(422)
    expect(answer.json.message).toMatch(
      /kubectl create serviceaccount user\.bob-example-com\.[0-9a-f]{32} -n keyplane;/,
    )
    expect(cluster.secrets.size).toBe(0)
    expect(await boundOf(user)).toMatchObject([{ ended: expect.any(Number) }])
  })
})

describe('the Secrets of a key', () => {
  // threat: exchange-35
  test('are few, however many lengths of tokens it asks for', async () => {
    const { cluster, name, user } = await begin()
    for (const ttl of [600, 601, 1800, 3600, 3601, 10_000, 14_400, 20_000, 86_400])
      expect((await fetch(name, user, { ttl })).status).toBe(201)
    expect(cluster.secrets.size).toBe(3)
    expect(await boundOf(user)).toHaveLength(3)
  })

  // threat: exchange-35
  test('that the cluster does not remove are limited, and a place that is free again is used', async () => {
    const { cluster, name, user } = await begin()
    cluster.accounts.clear()
    cluster.plays.delete = ({ answer }) => answer(500, {})
    for (let tries = 0; tries < 8; tries++) expect((await fetch(name, user)).status).toBe(422)
    const full = await fetch(name, user)
    expect([full.status, full.headers['retry-after'], full.json.message]).toEqual([
      429,
      '60',
      expect.stringContaining('has not confirmed that earlier Secrets of this access key are removed'),
    ])
    expect([cluster.secrets.size, await boundOf(user)]).toEqual([8, expect.objectContaining({ length: 8 })])
    cluster.plays = {}
    cluster.accounts.add('keyplane/user.alice')
    await functions.run('boundsecrets')
    const { storage } = functions.get().parts
    for (const { pk, sk, ...attributes } of await boundOf(user)) {
      const earlier = { ...attributes, ended: Number(attributes.ended) - 60, expiry: 1 } as JsonObject
      await storage.writeCompanion({ pk, sk, attributes: earlier }, unhurried)
    }
    await functions.run('boundsecrets')
    expect(cluster.secrets.size).toBe(0)
    expect((await fetch(name, user)).status).toBe(201)
    expect([cluster.secrets.size, (await boundOf(user)).length]).toEqual([1, 8])
  })

  test('are asked for once more with credentials that were rotated', async () => {
    const { cluster, name, user } = await begin()
    await fetch(name, user)
    const other = cluster.kubeConfig.replace('token-of-keyplane', 'another-token')
    cluster.knows = (token) => token === 'another-token'
    await functions.get().services.setSecret(`keyplane/local/clusters/${name}`, other)
    expect((await fetch(name, user)).status).toBe(201)
    expect(cluster.secrets.size).toBe(1)
  })

  // threat: exchange-34
  test.each<[string, number, object]>([
    ['a 401', 401, {}],
    ['a 404 of a proxy', 404, {}],
    ['a 404 of something else', 404, { kind: 'Status', details: { kind: 'pods' } }],
    ['a 403', 403, {}],
    ['a 500', 500, {}],
  ])('are ended by the end of the key after %s in between', async (_, code, body) => {
    const { cluster, name, user } = await begin()
    const token = await tokenIn(await fetch(name, user))
    cluster.plays = { token: ({ answer }) => answer(code, body), create: ({ answer }) => answer(code, body) }
    const before = cluster.calls.length
    expect((await fetch(name, user)).status).toBeGreaterThan(500)
    // Nothing says that the Secret is gone.
    expect(cluster.calls.slice(before).filter((call) => call.endsWith('/secrets'))).toEqual([])
    cluster.plays = {}
    expect((await boundOf(user)).map(({ ended, gone }) => [ended, gone])).toEqual([[undefined, undefined]])
    expect(cluster.accepts(token)).toBe(true)
    await change(user.key.name, { disabled: true })
    await endings()
    expect(cluster.accepts(token)).toBe(false)
  })

  test('are made again if somebody has removed them, and their tokens are told by the new uid', async () => {
    const { cluster, name, user } = await begin()
    const first = await tokenIn(await fetch(name, user))
    const [before] = await boundOf(user)
    cluster.secrets.clear()
    const second = await tokenIn(await fetch(name, user))
    const [after, ...others] = await boundOf(user)
    expect([cluster.accepts(first), cluster.accepts(second), others]).toEqual([false, true, []])
    expect(after?.secretUid).toBe([...cluster.secrets.values()][0]?.uid)
    expect(after?.secretUid).not.toBe(before?.secretUid)
  })

  test('whose create was not answered are removed', async () => {
    const { cluster, name, user } = await begin()
    cluster.plays.create = async ({ proceed, response }) => {
      response.end = (() => response.socket?.destroy()) as never
      await proceed()
    }
    expect((await fetch(name, user)).status).toBe(503)
    expect([cluster.calls.length > 1, cluster.secrets.size]).toEqual([true, 0])
    expect(await boundOf(user)).toMatchObject([{ ended: expect.any(Number), confirmed: true }])
  })

  test('are others at another address, and one that is missing there is not confirmed', async () => {
    const { cluster, name, user } = await begin()
    const token = await tokenIn(await fetch(name, user))
    const moved = await startAccountCluster()
    await functions.get().services.setSecret(`keyplane/local/clusters/${name}`, moved.kubeConfig)
    cluster.knows = () => false
    expect((await fetch(name, user)).status).toBe(502)
    expect((await fetch(name, user)).status).toBe(201)
    const servers = (await boundOf(user)).map(({ server }) => server)
    expect(servers.sort()).toEqual([cluster.url, moved.url].sort())
    await change(user.key.name, { disabled: true })
    await endings()
    expect(moved.secrets.size).toBe(0)
    expect((await boundOf(user)).find(({ server }) => server === cluster.url)).toMatchObject({ failure: 'credentials' })
    await functions.get().services.setSecret(`keyplane/local/clusters/${name}`, cluster.kubeConfig)
    cluster.knows = (text) => text === 'token-of-keyplane'
    expect(cluster.accepts(token)).toBe(true)
  })

  test('that were made before a value of the key leaked are removed', async () => {
    const { cluster, name, user } = await begin()
    const token = await tokenIn(await fetch(name, user))
    await endings()
    const { storage } = functions.get().parts
    await storage.update(
      OwnedAccessKey.table,
      user.key.name,
      (current) => {
        if (!current) throw new Error('no key')
        const tokensNotBefore = Math.floor(Date.now() / 1000) + 1
        return { type: 'put', object: current.object, internal: { ...current.internal, tokensNotBefore } }
      },
      unhurried,
    )
    await endings()
    expect(cluster.accepts(token)).toBe(false)
  })
})

describe('the end of a key', () => {
  // threat: exchange-31
  test.each(['disabled', 'narrowed', 'given to another user', 'deleted'])(
    'that is %s ends its tokens everywhere',
    async (how) => {
      const { cluster, name, user } = await begin()
      const other = await startAccountCluster()
      await functions.get().services.setSecret(`keyplane/local/clusters/other-${name}`, other.kubeConfig)
      await calls.make(
        { name: `other-${name}` },
        { server: 'https://us.example.com', tokens: 'ServiceAccounts', access: [{ verbs: ['use'], users: ['alice'] }] },
      )
      const tokens = [
        [cluster, await tokenIn(await fetch(name, user))],
        [other, await tokenIn(await fetch(`other-${name}`, user))],
      ] as const
      await endings()
      expect(tokens.map(([at, token]) => at.accepts(token))).toEqual([true, true])
      if (how === 'disabled') await change(user.key.name, { disabled: true })
      if (how === 'narrowed') await change(user.key.name, { scope: { rules: [{ verbs: ['get'] }] } })
      if (how === 'given to another user') await change(user.key.name, { user: 'carol' })
      if (how === 'deleted')
        await functions.invoke('ownedaccesskeys/delete', {
          user: admin,
          parameters: { name: user.key.name },
          body: null,
          query: {},
        })
      await endings()
      expect(tokens.map(([at, token]) => at.accepts(token))).toEqual([false, false])
      expect(await boundOf(user)).toMatchObject([{ ended: expect.any(Number) }, { ended: expect.any(Number) }])
      if (how !== 'disabled') return
      await change(user.key.name, { disabled: false })
      await endings()
      expect(tokens.map(([at, token]) => at.accepts(token))).toEqual([false, false])
    },
  )

  test('or any change of it during a request is a 401, for a Secret that is there as well', async () => {
    for (const isThere of [false, true]) {
      const { cluster, name, user } = await begin()
      if (isThere) await fetch(name, user)
      await change(user.key.name, { description: 'changed' })
      expect([isThere, (await fetch(name, user)).status]).toEqual([isThere, 401])
      expect(cluster.secrets.size).toBe(Number(isThere))
    }
  })

  // threat: exchange-31
  test('that comes before the token is answered answers nothing, and leaves nothing', async () => {
    for (const step of ['create', 'token'] as const) {
      const { cluster, name, user } = await begin()
      cluster.plays[step] = async ({ proceed }) => {
        await change(user.key.name, { disabled: true })
        await functions.run('lifecycle')
        await functions.run('boundsecrets')
        delete cluster.plays[step]
        await proceed()
      }
      const answer = await fetch(name, user)
      expect([step, answer.status, answer.json.status]).toEqual([step, 401, 'Failure'])
      expect(answer.text).not.toContain('kubeConfig')
      expect([step, cluster.secrets.size]).toEqual([step, 0])
    }
  })

  test('while a cluster is away is made up for when it is back, and the others are not late', async () => {
    const { cluster, name, user } = await begin()
    const token = await tokenIn(await fetch(name, user))
    cluster.plays.delete = ({ response }) => void response.socket?.destroy()
    await change(user.key.name, { disabled: true })
    await endings()
    expect(cluster.accepts(token)).toBe(true)
    expect(await boundOf(user)).toMatchObject([{ attempts: 1, failure: 'reset' }])
    const history = await functions.invoke('ownedaccesskeys/history', {
      user: admin,
      parameters: { name: user.key.name },
      query: {},
    })
    expect(history.json.status.events).toContainEqual(
      expect.objectContaining({ type: 'tokens-unconfirmed', cluster: name }),
    )
    const lines = functions.get().log.map((line) => JSON.parse(line))
    // A run also tries again what other tests have left.
    const { secretsUnconfirmed } = lines.findLast(({ message }) => message === 'bound secrets')
    expect(secretsUnconfirmed).toBeGreaterThan(0)
    expect(lines.filter(({ message }) => message === 'secret not removed')).toContainEqual(
      expect.objectContaining({ accessKey: user.key.name }),
    )
    const revoke = (names: string[], query = {}) =>
      functions.invoke('accesskeyrevocations/create', { query, body: { spec: { names, action: 'Delete' } } })
    expect((await revoke([user.key.name], { dryRun: 'All' })).json.status).not.toHaveProperty('unconfirmed')
    const revoked = await revoke([user.key.name])
    expect(revoked.json.status).toMatchObject({ done: 1, unconfirmed: { keys: 1, clusters: [name] } })
  })
})

describe('a request that is killed', () => {
  const steps = ['secrets', 'token'].flatMap((step) => [false, true].map((isSent) => ({ step, isSent })))
  test.each(steps)(
    'at $step, which was sent: $isSent, leaves no Secret that the end of its key does not remove',
    async ({ step, isSent }) => {
      const { cluster, name, user } = await begin()
      const { serviceAccounts, storage } = functions.get().parts
      const stored = await storage.get(Cluster.table, name)
      const target = stored && clusterTarget(stored.object)
      if (!target) throw new Error('no cluster')
      const { promise: died, resolve: die } = Promise.withResolvers<'died'>()
      const mortal: IssueServices = Object.create(serviceAccounts, {
        connect: {
          value: (...to: Parameters<IssueServices['connect']>): ClusterClient => {
            const client = serviceAccounts.connect(...to)
            return {
              ...client,
              async send(request) {
                if (!request.path.endsWith(`/${step}`)) return client.send(request)
                if (isSent) await client.send(request)
                die('died')
                return new Promise(() => {})
              },
            }
          },
        },
      })
      const request = { target, user, seconds: 3600, now: new Date(), deadline: endless }
      expect(await Promise.race([issueAccountToken(request, mortal).then(() => 'issued'), died])).toBe('died')
      expect(await boundOf(user)).toHaveLength(1)
      await change(user.key.name, { disabled: true })
      await endings()
      expect(cluster.secrets.size).toBe(0)
      expect(await boundOf(user)).toMatchObject([{ ended: expect.any(Number) }])
    },
  )
})

describe('the removal of a cluster', () => {
  test('ends its tokens', async () => {
    const { cluster, name, user } = await begin()
    const token = await tokenIn(await fetch(name, user))
    const answer = await functions.invoke('clusters/delete', { parameters: { name }, body: null })
    expect(String(answer.headers.warning)).toContain('end within seconds')
    await endings()
    expect(cluster.accepts(token)).toBe(false)
  })
})

describe('a server that is none', () => {
  test.each<[string, (cluster: AccountCluster) => void, number, string]>([
    [
      'redirects',
      (c) => {
        c.plays.create = ({ response }) => void response.writeHead(302, { Location: 'https://x.example' }).end()
      },
      502,
      'redirect',
    ],
    [
      'answers with a page',
      (c) => {
        c.plays.create = ({ response }) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>')
      },
      502,
      'invalid answer',
    ],
    ['has no namespace', (c) => c.namespaces.clear(), 502, 'namespace "keyplane" does not exist there'],
    [
      'refuses Secrets',
      (c) => {
        c.plays.create = ({ answer }) => answer(403, {})
      },
      502,
      'create of secrets in namespace "keyplane"',
    ],
    [
      'refuses tokens',
      (c) => {
        c.plays.token = ({ answer }) => answer(403, {})
      },
      502,
      'create of serviceaccounts/token',
    ],
    [
      'breaks the connection',
      (c) => {
        c.plays.token = ({ response }) => void response.destroy()
      },
      503,
      'broken',
    ],
  ])('that %s is a Status that says what and whose, and leaves nothing', async (_, spoil, code, text) => {
    const { cluster, name, user } = await begin()
    spoil(cluster)
    const answer = await fetch(name, user)
    expect([answer.status, answer.json.message]).toEqual([code, expect.stringContaining(text)])
    expect(answer.json.message).toContain(`cluster "${name}"`)
    expect(answer.text).not.toMatch(/hunter2|token-of-keyplane|127\.0\.0\.1/)
    cluster.plays = {}
    expect(cluster.secrets.size).toBe(0)
    for (const item of await boundOf(user)) expect(item.gone ?? item.ended).toBeTruthy()
  })
})
