/**
 * Tests the access keys of exchanges: what closes them, what they may do, and what may be done to them. The keys are
 * created as an exchange creates them; their gates are written as the kinds write them.
 */

import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import type { Federation } from '../../lib/access/users/user.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import { updateObject } from '../../lib/engine/registry/update.ts'
import { IdentityProvider } from '../../lib/federation/identityprovider.ts'
import type { GateKind, GateState } from '../../lib/keys/credential/gates.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { testAuthority, type Wish } from '../lib/clusters/authority.ts'
import { startFaultyCluster } from '../lib/clusters/faultycluster.ts'
import { createExchangedKey, type Exchanged, newFederation, openGates, setGate } from '../support/exchangedkeys.ts'
import { provider as providerObject, providers, trust as trustObject, trusts } from '../support/federation.ts'
import { accessKey, apiVersion, instance, instances, keys, management } from '../support/objects.ts'
import { messageOf, saying } from '../support/refusals.ts'
import type { Answer, Call } from '../support/request.ts'
import { applyPatch, mergePatch } from '../support/request.ts'
import { collectGarbage, useServer } from '../support/sharedserver.ts'
import { contextOf } from '../support/users.ts'

const most = 3

const server = useServer({ MAX_KEYS_PER_OWNER: String(most) })
beforeAll(async () => {
  const host = 'vc.example.com'
  const authority = Buffer.from(server.certificateAuthority).toString('base64')
  const spec = { owner: { user: 'alice' }, accessPoint: { ingress: { host } }, certificateAuthorityData: authority }
  await server.make(instances('p-a'), instance('x', spec))
})

interface Key {
  name: string
  token: string
  federation: Federation
}

/** Creates an exchanged key of alice with open gates. */
async function exchange(options: Exchanged = {}): Promise<Key> {
  const federation = newFederation()
  await openGates(server.parts, federation)
  return { ...(await createExchangedKey(server.parts, federation, options)), federation }
}

const gate = ({ federation }: Key, kind: GateKind, state: Partial<GateState> | 'missing') =>
  setGate(server.parts, federation, kind, state)
const patch = (name: string, spec: object, token?: string) => server.patch(`${keys}/${name}`, { spec }, token)
const post: typeof server.post = (...of) => server.post(...of)
const self = (token: string): Promise<Answer> => post(`${management}/selves`, {}, token)

const trust = 'the federated identity credential of the access key'
const provider = 'the identity provider of the access key'
const asTested = 'has changed since the exchange: exchange another ID token'

// threat: exchange-24
test('a key is refused by Self and by TokenReview once a gate is closed, and accepted when it is as before', async () => {
  const key = await exchange({ spec: { scope: { clusters: [{ cluster: 'eu' }] } } })
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
  const outcomes = async () => [
    messageOf(await post(`${management}/selves`, { spec: { accessKey: key.token } })),
    (await post(reviews, { spec: { token: key.token } })).json.status.authenticated ?? false,
    (await self(key.token)).status,
  ]
  expect(await outcomes()).toEqual([[201, undefined], true, 201])
  await gate(key, 'provider', { deleted: true })
  expect(await outcomes()).toEqual([[401, `${provider} is being deleted`], false, 401])
  await gate(key, 'provider', {})
  expect(await outcomes()).toEqual([[201, undefined], true, 201])
})

test('what a cluster knows from the key or a token of it is denied by SubjectAccessReview once a gate is closed', async () => {
  const scope = { clusters: [{ cluster: 'eu' }] }
  const key = await exchange({ spec: { scope } })
  const agent = await server.make(
    keys,
    accessKey('agent', { user: 'agent', scope: { ...scope, roles: [{ role: 'agent' }] } }),
  )
  const reviewed = await post(
    '/apis/authentication.k8s.io/v1/tokenreviews',
    { spec: { token: key.token } },
    agent.spec.key,
  )
  const { username, extra } = reviewed.json.status.user
  const spec = { user: username, extra, resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } }
  const review = async () =>
    (await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec }, agent.spec.key)).json.status
  expect(await review()).toEqual({ allowed: false })
  await gate(key, 'provider', { disabled: true })
  expect(await review()).toEqual({ allowed: false, denied: true, reason: 'the access key no longer gives access' })
})

// threat: exchange-24
test('a watch ends within ten seconds after a gate is closed', async () => {
  const key = await exchange()
  let ahead = 0
  const now = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  try {
    const path = `${keys}?watch=1&timeoutSeconds=60&fieldSelector=metadata.name%3D${key.name}&allowWatchBookmarks=true`
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const headers = { authorization: `Bearer ${key.token}` }
    const begun = Promise.withResolvers<void>()
    const sent = request(`${server.base}${path}`, { headers, ca: server.certificateAuthority }, (answer) => {
      answer.once('readable', () => begun.resolve())
      text(answer).then(resolve, reject)
    })
    sent.on('error', reject).end()
    await begun.promise
    await gate(key, 'trust', { disabled: true })
    ahead = 11_000
    expect(await promise).toContain(`"name":"${key.name}"`)
  } finally {
    spy.mockRestore()
  }
})

describe('an exchanged key', () => {
  // threat: exchange-53
  test('has the identity, the labels and the inherited chain that the exchange gives it', async () => {
    const carried = [{ projects: [{ project: 'a' }] }]
    const scope = { virtualClusters: [{ project: 'a', virtualCluster: 'x' }] }
    const key = await exchange({
      creator: 'team:shop',
      carried,
      spec: { scope },
      metadata: { labels: { from: 'here' } },
    })
    expect((await self(key.token)).json.status).toMatchObject({
      team: { name: 'shop' },
      groups: expect.arrayContaining(['team:shop']),
      accessKeyScope: scope,
    })
    expect((await server.call(`${keys}/${key.name}`)).json.metadata.labels).toEqual({ from: 'here' })
    const outside = await server.call(`${instances('p-b')}/x`, { token: key.token })
    expect(outside.status).toBe(403)
  })

  test('is not limited by max-keys-per-owner, and not counted', async () => {
    const spec = { user: 'quota' }
    for (let more = 0; more <= most; more++) await exchange({ spec })
    const { spec: made } = await server.make(keys, accessKey('quota-1', spec))
    const create = () => post(keys, accessKey('', {}, { generateName: 'quota-' }), made.key)
    for (let more = 1; more < most; more++) expect((await create()).status).toBe(201)
    expect((await create()).status).toBe(403)
    const { token, name } = await exchange({ spec })
    expect((await self(token)).status).toBe(201)
    await server.call(`${keys}/${name}`, { method: 'DELETE' })
    expect((await create()).status).toBe(403)
  })

  const changes: Record<string, object> = {
    'its ttl': { ttl: 7200 },
    'its scope': { scope: { projects: [{ project: '*' }] } },
    'its value': { key: 'another-value'.padEnd(40, '.') },
    'a write-only field': { identity: { connectorData: 'secret' } },
    'its display name': { displayName: 'other' },
    'the user, together with disabled': { user: 'bob', disabled: true },
    'its identity': { identity: { userId: 'other' } },
  }
  // threat: exchange-25
  test.each(Object.keys(changes))('cannot be changed: %s', async (what) => {
    const key = await exchange({ spec: { scope: { projects: [{ project: 'a' }] } } })
    const owner = (await server.make(keys, accessKey('', { user: 'alice', scope: {} }, { generateName: 'owner-' })))
      .spec.key
    const before = (await server.call(`${keys}/${key.name}`)).json
    const refused = `ownedaccesskeys.management.platform "${key.name}" is forbidden: an access key that comes from an exchanged ID token can only be disabled or deleted`
    expect(messageOf(await patch(key.name, changes[what] ?? {}))).toEqual([403, refused])
    expect((await patch(key.name, changes[what] ?? {}, owner)).status).toBe(403)
    expect((await patch(key.name, changes[what] ?? {}, key.token)).status).toBe(403)
    const after = (await server.call(`${keys}/${key.name}`)).json
    expect([after.spec, after.metadata.generation]).toEqual([before.spec, before.metadata.generation])
    expect((await self(key.token)).status).toBe(201)
  })

  test('can be disabled, labelled and deleted, and stays an exchanged key', async () => {
    const key = await exchange()
    const labelled = await server.call(`${keys}/${key.name}`, mergePatch({ metadata: { labels: { a: 'b' } } }))
    expect([labelled.status, labelled.json.metadata.labels]).toEqual([200, { a: 'b' }])
    expect((await patch(key.name, { disabled: true })).status).toBe(200)
    expect(messageOf(await self(key.token))).toEqual([401, 'access key is disabled'])
    expect((await patch(key.name, { disabled: false })).status).toBe(200)
    expect((await self(key.token)).status).toBe(201)
    await gate(key, 'trust', { disabled: true })
    expect(messageOf(await self(key.token))).toEqual([401, `${trust} is disabled`])
    expect((await server.call(`${keys}/${key.name}`, { method: 'DELETE' })).status).toBe(200)
    expect((await self(key.token)).status).toBe(401)
  })

  test('of a workload can delete itself', async () => {
    const { name, token } = await exchange()
    expect((await server.call(`${keys}/${name}`, { method: 'DELETE', token })).status).toBe(200)
    expect((await self(token)).status).toBe(401)
  })
})

describe('a workload with an exchanged key', () => {
  // threat: exchange-25
  test.each<[string, JsonObject]>([
    ['of a user', {}],
    ['of administrators', { groups: ['system:masters'] }],
  ])('%s creates no access keys', async (_, spec) => {
    const { token } = await exchange({ spec })
    const creates = [
      post(keys, accessKey('made-by-job', { ttl: 60 }), token),
      post(`${keys}?dryRun=All`, accessKey('made-by-job', { ttl: 60 }), token),
      server.call(`${keys}/made-by-job?fieldManager=m`, applyPatch(accessKey('made-by-job', { ttl: 60 }), token)),
    ]
    for (const answer of await Promise.all(creates)) {
      expect(messageOf(answer)).toEqual(
        saying(
          403,
          / is forbidden: .*the access key used comes from an exchanged ID token of a workload and may not create access keys: exchange an ID token for each$/,
        ),
      )
    }
    expect((await server.call(`${keys}/made-by-job`)).status).toBe(404)
  })

  test('only disables and deletes the other keys of its identity', async () => {
    const { token } = await exchange({ spec: { user: 'carol' } })
    await server.make(keys, accessKey('carols', { user: 'carol', ttl: 60 }))
    expect(messageOf(await patch('carols', { key: 'known-to-the-job'.padEnd(40, '.') }, token))).toEqual([
      403,
      'ownedaccesskeys.management.platform "carols" is forbidden: the access key used comes from an exchanged ID token of a workload and may not change access keys, only disable or delete them',
    ])
    expect((await patch('carols', { disabled: true }, token)).status).toBe(200)
    expect((await server.call(`${keys}/carols`, { method: 'DELETE', token })).status).toBe(200)
  })
})

describe('a person with an exchanged key', () => {
  const login = { user: 'erin', type: 'Login' }
  const old = { now: new Date(Date.now() - 20 * 60_000) }

  test('creates keys that are ordinary ones and outlive it, in the first 15 minutes', async () => {
    const key = await exchange({ spec: login })
    const made = await post(keys, accessKey('erins'), key.token)
    expect(made.status).toBe(201)
    await gate(key, 'trust', { disabled: true })
    expect((await self(made.json.spec.key)).status).toBe(201)
  })

  test('creates only keys that end with it, later or with a scope', async () => {
    const late = await exchange({ spec: login, ...old })
    const scoped = await exchange({ spec: { ...login, scope: { rules: [{}] } } })
    for (const { token } of [late, scoped]) {
      const refused = await post(keys, accessKey('erins-other', { ttl: 86_400 }), token)
      expect(messageOf(refused)).toEqual(saying(403, 'may not create one that could outlive it'))
    }
    expect((await post(keys, accessKey('erins-brief', { ttl: 60 }), late.token)).status).toBe(201)
  })

  // threat: storage-13
  test('creates nothing in a request that was allowed before a gate was closed', async () => {
    const key = await exchange({ spec: { ...login, user: 'fay' } })
    const used = await server.parts.authenticate(key.token)
    if (!('user' in used)) throw new Error('the key gives no access')
    const user = { ...used.user, credential: used.credential }
    const store = server.parts.storeOf(OwnedAccessKey)
    const create = (name: string) =>
      createObject(store, { object: { ...accessKey(name), spec: {} }, secrets: [] }, contextOf(user))
    expect((await create('fays-early')).created).toBe(true)
    await gate(key, 'provider', { revision: 2 })
    await expect(create('fays-late')).rejects.toMatchObject({
      status: { code: 401, message: 'access key has been changed or deleted since the request was allowed' },
    })
    expect((await server.call(`${keys}/fays-late`)).status).toBe(404)
  })
})

describe('what a key leaves behind', () => {
  // threat: exchange-28, use-4
  test.each<[string, Wish, boolean, string]>([
    ['is returned if it ends before the key', {}, false, ''],
    [
      'is not returned if it outlives the key',
      { notAfter: new Date(Date.now() + 2 * 3_600_000) },
      false,
      'which would outlive the access key used',
    ],
    [
      'is not returned if a gate was closed meanwhile',
      {},
      true,
      'has been changed or deleted since the request was allowed',
    ],
  ])('a certificate that was signed for an exchanged key %s', async (_, signed, isClosed, refusal) => {
    const key = await exchange({ spec: { ttl: 3600 } })
    const authority = await testAuthority()
    const cluster = await startFaultyCluster({
      authority,
      signed,
      plays: {
        async approve({ proceed }) {
          if (isClosed) await gate(key, 'provider', { disabled: true })
          await proceed()
        },
      },
    })
    try {
      const credentials = { ...cluster.credentials, certificateAuthority: authority.certificate }
      const name = `p-a/${key.name}`
      await server.make(
        instances('p-a'),
        instance(key.name, { owner: { user: 'alice' }, accessPoint: { ingress: { host: 'vc.example.com' } } }),
      )
      await server.keepCredentials(name, kubeConfigFile({ name: 'manager', ...credentials }))
      const body = { spec: { clientCert: true, certificateTTL: 600 } }
      const answer = await post(`${instances('p-a')}/${key.name}/kubeconfig`, body, key.token)
      if (refusal === '') expect([answer.status, answer.json.status.kubeConfig]).toEqual([201, expect.any(String)])
      else expect([answer.status, answer.text]).toEqual([isClosed ? 401 : 403, expect.stringContaining(refusal)])
    } finally {
      await cluster.close()
    }
  })

  test('a certificate that would outlive an exchanged key is not requested', async () => {
    const { token } = await exchange({ spec: { ttl: 900 } })
    const answer = await post(`${instances('p-a')}/x/kubeconfig`, { spec: { clientCert: true } }, token)
    expect(messageOf(answer)).toEqual(saying(403, /would outlive the access key used.* of at most 8[34]\d$/))
  })
})

describe('an exchanged key of a trust and a provider', () => {
  let made = 0

  /** Creates a provider, a trust and a key that came through both. */
  async function exchangeThrough(
    spec: JsonObject = {},
  ): Promise<{ name: string; token: string; trustPath: string; providerPath: string }> {
    made += 1
    const [identityProvider, trustName] = [`issuer-${made}`, `trust-${made}`]
    const issuer = { issuer: `https://issuer-${made}.example.com` }
    const { metadata: ofProvider } = await server.make(providers, providerObject(identityProvider, issuer))
    const claims = [{ claim: 'sub', values: ['job'] }]
    const own = { identityProvider, claims, scope: { projects: [{ project: 'a' }] }, user: 'alice' }
    const { metadata: ofTrust, kind } = await server.make(trusts, trustObject(trustName, own))
    const federation = {
      trust: { uid: ofTrust.uid, revision: 0 },
      provider: { uid: ofProvider.uid, revision: 0 },
      run: 'a run',
    }
    const owner = { apiVersion, kind, name: trustName, uid: ofTrust.uid, controller: true }
    const key = await createExchangedKey(server.parts, federation, { metadata: { ownerReferences: [owner] }, spec })
    return { ...key, trustPath: `${trusts}/${trustName}`, providerPath: `${providers}/${identityProvider}` }
  }

  type At = 'trustPath' | 'providerPath'
  const remove: Call = { method: 'DELETE' }
  // threat: exchange-24
  test.each<[string, At, Call, string]>([
    ['the trust is disabled', 'trustPath', mergePatch({ spec: { disabled: true } }), `${trust} is disabled`],
    [
      'the claims of the trust change',
      'trustPath',
      mergePatch({ spec: { claims: [{ claim: 'sub', values: ['other'] }] } }),
      `${trust} ${asTested}`,
    ],
    ['the trust is deleted', 'trustPath', remove, `${trust} has been deleted`],
    ['the trust waits for its finalizers', 'trustPath', remove, `${trust} is being deleted`],
    ['the provider is disabled', 'providerPath', mergePatch({ spec: { disabled: true } }), `${provider} is disabled`],
    [
      'the audience of the provider changes',
      'providerPath',
      mergePatch({ spec: { audience: 'https://other.example.com' } }),
      `${provider} ${asTested}`,
    ],
    ['the provider is deleted', 'providerPath', remove, `${provider} has been deleted`],
  ])('is refused at the next request when %s', async (_, at, call, reason) => {
    const { token, [at]: path } = await exchangeThrough()
    expect((await self(token)).status).toBe(201)
    if (reason.endsWith('is being deleted'))
      expect((await server.patch(path, { metadata: { finalizers: ['example.com/hold'] } })).status).toBe(200)
    expect((await server.call(path, call)).status).toBe(200)
    expect(messageOf(await self(token))).toEqual([401, reason])
  })

  test.each<[string, JsonObject]>([
    ['of a workload', {}],
    ['of a person', { type: 'Login' }],
  ])('%s leaves behind no trust and no provider, in the hands of administrators too', async (_, spec) => {
    const { trustPath, providerPath } = await exchangeThrough()
    const [trustBefore, providerBefore] = [await server.call(trustPath), await server.call(providerPath)]
    const { token } = await exchange({ spec: { ...spec, groups: ['system:masters'], scope: { rules: [{}] } } })
    const claims = [{ claim: 'sub', values: ['mine'] }]
    const issuer = { issuer: 'https://mine.example.com' }
    const identityProvider = providerBefore.json.metadata.name
    const refused = [
      post(providers, providerObject('mine', issuer), token),
      server.patch(providerPath, { spec: { jwksURI: 'https://mine.example.com/keys' } }, token),
      server.patch(providerPath, { spec: { audience: 'https://mine.example.com' } }, token),
      post(trusts, trustObject('mine', { identityProvider, claims, scope: {} }), token),
      server.patch(trustPath, { spec: { claims } }, token),
    ]
    for (const answer of await Promise.all(refused))
      expect(messageOf(answer)).toEqual(saying(403, 'the access key used expires at '))
    expect((await server.call(trustPath)).json).toEqual(trustBefore.json)
    expect((await server.call(providerPath)).json).toEqual(providerBefore.json)
    expect((await server.call(providerPath, { ...mergePatch({ spec: { disabled: true } }, token) })).status).toBe(200)
  })

  const administrator = { type: 'Login', groups: ['system:masters'] }
  test.each<[string, At, Call]>([
    ['disables its trust', 'trustPath', mergePatch({ spec: { disabled: true } })],
    ['deletes its trust', 'trustPath', remove],
    ['disables its provider', 'providerPath', mergePatch({ spec: { disabled: true } })],
    ['deletes its provider', 'providerPath', remove],
  ])('ends itself when it %s', async (_, at, call) => {
    const { token, [at]: path } = await exchangeThrough(administrator)
    expect((await server.call(path, { ...call, token })).status).toBe(200)
    expect((await self(token)).status).toBe(401)
  })

  test('cannot open its own gate again in a request that was allowed before', async () => {
    const { token, providerPath } = await exchangeThrough(administrator)
    const used = await server.parts.authenticate(token)
    if (!('user' in used)) throw new Error('the key gives no access')
    const user = { ...used.user, credential: used.credential }
    expect((await server.call(providerPath, mergePatch({ spec: { disabled: true } }))).status).toBe(200)
    const enable = updateObject(
      server.parts.storeOf(IdentityProvider),
      {
        namespace: '',
        name: providerPath.slice(providers.length + 1),
        subresource: '',
        verb: 'patch',
        transform: (live) => ({ object: { ...live, spec: { ...live.spec, disabled: false } }, secrets: [] }),
      },
      contextOf(user),
    )
    await expect(enable).rejects.toMatchObject({ status: { code: 401 } })
    expect((await server.call(providerPath)).json.spec.disabled).toBe(true)
  })

  test('works after a change of the trust that decides nothing, and is removed after its trust', async () => {
    const { name, token, trustPath } = await exchangeThrough()
    expect((await server.patch(trustPath, { spec: { description: 'x', ttl: 600 } })).status).toBe(200)
    expect((await self(token)).status).toBe(201)
    expect((await server.call(trustPath, { method: 'DELETE' })).status).toBe(200)
    await collectGarbage()
    expect((await server.call(`${keys}/${name}`)).status).toBe(404)
  })
})
