/**
 * Tests keys that may be used only from some addresses, and the addresses from which keys were used, through the whole API.
 * The requests come from different addresses of this machine.
 */

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { provider, providers, trust, trusts } from '../support/federation.ts'
import { accessKey, apiVersion, instance, instances, keys, management } from '../support/objects.ts'
import { parsed } from '../support/parsed.ts'
import { messageOf, saying } from '../support/refusals.ts'
import type { Answer, Call } from '../support/request.ts'
import { applyPatch } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'
import cases from './vectors/sources.cases.json' with { type: 'json' }

const server = useServer()
let agents: Map<string, Agent>

beforeAll(async () => {
  agents = new Map()
})
afterAll(async () => {
  for (const agent of agents?.values() ?? []) agent.destroy()
})

/** Sends a request from this address to the loopback address of its family. */
async function callFrom(
  localAddress: string,
  path: string,
  { method = 'GET', body, token, headers }: Call,
): Promise<Answer> {
  const host = localAddress.includes(':') ? '[::1]' : '127.0.0.1'
  const agent =
    agents.get(localAddress) ?? new Agent({ ca: server.certificateAuthority, localAddress, keepAlive: true })
  agents.set(localAddress, agent)
  const url = new URL(`${server.base}${path}`)
  const sent = request(`https://${host}:${url.port}${url.pathname}${url.search}`, {
    method,
    agent,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = (await response.toArray()).join('')
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) }
}

const make = async (name: string, spec: object = {}): Promise<string> =>
  (await server.make(keys, accessKey(name, { user: 'alice', ...spec }))).spec.key
const read = async (name: string) => (await server.call(`${keys}/${name}`)).json

/** Returns the signals of a kind for a key. */
async function signalsOf(kind: string, name: string) {
  return (await server.store.all()).filter((item) => item.kind === kind && item.name === name)
}

const refusal = (name: string, address: string) => `access key "${name}" may not be used from ${address}`

describe('a key with spec.sourceCIDRs', () => {
  // threat: use-11
  test.each(cases.requests as [string[], string, number][])(
    '%j: a request from %s gets %i',
    async (sourceCIDRs, address, status) => {
      const name = `from-${Buffer.from(`${sourceCIDRs} ${address}`).toString('hex').slice(0, 200)}`
      const token = await make(name, { sourceCIDRs })
      const answer = await callFrom(address, `${keys}/${name}`, { token })
      expect(answer.status).toBe(status)
      if (status === 403) expect(answer.json.message).toBe(refusal(name, address))
    },
  )

  // The gateway appends to X-Forwarded-For, and passes the other headers on.
  // threat: use-11
  test.each(cases.headers as [string, Record<string, string>][])(
    'is judged by the address of the connection, not by %s',
    async (what, headers) => {
      const name = `header-${what.toLowerCase().replaceAll(/[^a-z]/g, '-')}`
      const token = await make(name, { sourceCIDRs: ['127.0.0.2'] })
      const refused = await callFrom('127.0.0.1', keys, { token, headers })
      expect(messageOf(refused)).toEqual([403, refusal(name, '127.0.0.1')])
      const spoofed = Object.fromEntries(Object.keys(headers).map((header) => [header, '203.0.113.7']))
      expect((await callFrom('127.0.0.2', keys, { token, headers: spoofed })).status).toBe(200)
    },
  )

  test('is refused with a Status, an audit record and one signal a day, and its last activity does not move', async () => {
    const token = await make('elsewhere', { sourceCIDRs: ['127.0.0.2'] })
    const refused = await callFrom('127.0.0.1', keys, { token, headers: { 'user-agent': `stolen/1.0 ${token}` } })
    expect(refused.json).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 })
    expect(refused.headers['content-type']).toBe('application/json')
    expect(server.auditOf(refused)).toMatchObject({
      decision: 'deny',
      reason: refusal('elsewhere', '127.0.0.1'),
      code: 403,
      sourceIp: '127.0.0.1',
      user: 'alice',
      key: 'elsewhere',
      authorization: 'source',
    })
    await callFrom('127.0.0.3', keys, { token })
    const { metadata, status } = await read('elsewhere')
    expect(status).not.toHaveProperty('lastActivity')
    expect(status).not.toHaveProperty('lastSources')
    const signals = await signalsOf('source-refused', 'elsewhere')
    expect(signals).toEqual([
      expect.objectContaining({ uid: metadata.uid, ip: '127.0.0.1', userAgent: 'stolen/1.0 <redacted>' }),
    ])
  })

  test('is judged before its scope, and after its life', async () => {
    const scope = { projects: [{ project: 'web' }] }
    const scoped = await make('scoped', { sourceCIDRs: ['127.0.0.2'], scope })
    expect((await callFrom('127.0.0.1', keys, { token: scoped })).json.message).toContain('may not be used from')
    expect((await callFrom('127.0.0.2', keys, { token: scoped })).json.message).toContain('spec.scope does not allow')
    const disabled = await make('disabled', { sourceCIDRs: ['127.0.0.2'], disabled: true })
    const dead = await callFrom('127.0.0.1', keys, { token: disabled })
    expect(messageOf(dead)).toEqual([401, 'access key is disabled'])
  })

  // threat: use-11
  test('takes effect, and ends, at the next request', async () => {
    const token = await make('changing')
    const limit = (sourceCIDRs: string[] | null) => server.patch(`${keys}/changing`, { spec: { sourceCIDRs } })
    const statuses = async () =>
      Promise.all(['127.0.0.1', '127.0.0.2'].map(async (address) => (await callFrom(address, keys, { token })).status))
    expect(await statuses()).toEqual([200, 200])
    expect((await limit(['127.0.0.2'])).headers.warning).toBeUndefined()
    expect(await statuses()).toEqual([403, 200])
    expect((await limit(null)).headers.warning).toBe(
      '299 - "access key \\"changing\\" is no longer restricted by spec.sourceCIDRs"',
    )
    expect(await statuses()).toEqual([200, 200])
  })

  test('is a 422 for what is not a CIDR in its canonical form', async () => {
    const body = accessKey('wrong', { sourceCIDRs: ['192.0.2.1', '10.0.0.1/8'] })
    const { status, json } = await server.post(keys, body)
    expect([status, json.details.causes[0].field]).toEqual([422, 'spec.sourceCIDRs[1]'])
    expect(json.message).toContain('Invalid value: "10.0.0.1/8": must be 10.0.0.0/8')
  })
})

describe('with a key that is limited to addresses', () => {
  let limited: string
  let boss: string
  beforeAll(async () => {
    limited = await make('limited', { sourceCIDRs: ['127.0.0.0/30'] })
    boss = await make('limited-boss', { sourceCIDRs: ['127.0.0.0/30'], groups: ['system:masters'] })
    await make('free', { ttl: 3600 })
  })
  const send = (method: string, path: string, body: object, token = limited) =>
    callFrom('127.0.0.2', path, { method, body, token })

  // threat: use-12
  test('a new key has its addresses', async () => {
    const { status, json } = await send('POST', keys, accessKey('child', { user: 'alice', ttl: 60 }))
    expect([status, json.spec.sourceCIDRs]).toEqual([201, ['127.0.0.0/30']])
    expect((await callFrom('127.0.0.4', keys, { token: json.spec.key })).status).toBe(403)
    expect((await callFrom('127.0.0.3', keys, { token: json.spec.key })).status).toBe(200)
    const empty = await send('POST', keys, accessKey('child-2', { user: 'alice', ttl: 60, sourceCIDRs: [] }))
    expect(empty.json.spec.sourceCIDRs).toEqual(['127.0.0.0/30'])
  })

  test('a key that an apply creates has its addresses, and keeps them when it is applied again', async () => {
    const applied = (spec: object) =>
      callFrom(
        '127.0.0.2',
        `${keys}/applied?fieldManager=test`,
        applyPatch(accessKey('applied', { user: 'alice', ttl: 60, ...spec }), limited),
      )
    expect((await applied({})).json.spec.sourceCIDRs).toEqual(['127.0.0.0/30'])
    expect((await applied({ description: 'x' })).json.spec.sourceCIDRs).toEqual(['127.0.0.0/30'])
  })

  // threat: use-12, rotation-15
  test('a key is rotated only within its addresses, and the new value has the same', async () => {
    const rotation = { apiVersion, kind: 'OwnedAccessKeyRotation', spec: {} }
    for (const token of [limited, boss]) {
      for (const spec of [{}, { key: 'a-value-that-the-thief-knows-0123456789' }])
        expect(messageOf(await send('POST', `${keys}/free/rotate`, { ...rotation, spec }, token))).toEqual(
          saying(403, 'may not change an access key that can be used from other addresses'),
        )
    }
    await make('rotated', { ttl: 3600, sourceCIDRs: ['127.0.0.2'] })
    const { status, json } = await send('POST', `${keys}/rotated/rotate`, rotation)
    expect(status).toBe(201)
    const use = async (address: string) => (await callFrom(address, keys, { token: json.status.key })).status
    expect([await use('127.0.0.1'), await use('127.0.0.2')]).toEqual([403, 200])
  })

  // threat: use-12
  test('nothing that makes keys can be made', async () => {
    const why = 'whose keys could be used from other addresses'
    const idp = provider('idp', { issuer: 'https://issuer.example.com' })
    expect(messageOf(await send('POST', providers, idp, boss))).toEqual(saying(403, why))
    const made = await server.make(providers, idp)
    const claims = [{ claim: 'sub', values: ['x'] }]
    const fic = trust('fic', { identityProvider: 'idp', user: 'alice', scope: {}, claims })
    expect(messageOf(await send('POST', trusts, fic, boss))).toEqual(saying(403, why))
    const madeTrust = await server.make(trusts, fic)
    for (const [path, old, change] of [
      [`${providers}/idp`, made, { maxTTL: 600 }],
      [`${trusts}/fic`, madeTrust, { ttl: 600 }],
    ] as const) {
      const put = (spec: object) => send('PUT', path, { ...old, spec: { ...old.spec, ...spec } }, boss)
      expect(messageOf(await put(change))).toEqual(saying(403, why))
      expect((await put({ disabled: true })).status).toBe(200)
    }
  })

  test('tokens and kube configs come with a warning', async () => {
    const body = { apiVersion, kind: 'DirectClusterEndpointToken', spec: { ttl: 600 } }
    const token = await send('POST', `${management}/directclusterendpointtokens?dryRun=All`, body)
    expect([token.status, token.headers.warning]).toEqual(saying(201, 'the token is not limited to spec.sourceCIDRs'))
    const free = await server.post(`${management}/directclusterendpointtokens?dryRun=All`, body)
    expect(String(free.headers.warning)).not.toContain('sourceCIDRs')
    const spec = { owner: { user: 'alice' }, accessPoint: { ingress: { enabled: true, host: 'vc.example.com' } } }
    await server.make(instances('p-a'), instance('vc', spec))
    const config = { apiVersion, kind: 'VirtualClusterInstanceKubeConfig', spec: { certificateTTL: 600 } }
    const made = await send('POST', `${instances('p-a')}/vc/kubeconfig?dryRun=All`, config)
    expect([made.status, made.headers.warning]).toEqual(saying(201, 'the token is not limited to spec.sourceCIDRs'))
  })

  test('selves does not tell about it for another key, because it does not learn from where that is used', async () => {
    const body = { spec: { accessKey: limited } }
    expect(messageOf(await server.post(`${management}/selves`, body))).toEqual([
      403,
      refusal('limited', 'an unknown address'),
    ])
    expect((await send('POST', `${management}/selves`, {})).json.status).toMatchObject({ accessKey: 'limited' })
  })

  // threat: use-14
  test('no TokenReview accepts it, because a cluster does not tell from where a request comes', async () => {
    const scope = { clusters: [{ cluster: 'eu' }] }
    const token = await make('reviewed', { ttl: 600, scope, sourceCIDRs: ['127.0.0.0/8'] })
    const { json } = await server.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })
    expect(json.status.authenticated ?? false).toBe(false)
  })
})

describe('status.lastSources', () => {
  const uses = { 'user-agent': 'kubectl/v1.34.4 (linux/amd64) kubernetes/0123456789abcdef0123456789abcdef' }

  // threat: use-16
  test('has the address and the client of a use, for the owner and administrators only', async () => {
    const token = await make('used')
    await callFrom('127.0.0.6', keys, { token, headers: uses })
    const seen = {
      ip: '127.0.0.6',
      userAgent: uses['user-agent'].slice(0, 64),
      lastSeen: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    }
    const { status, metadata } = await read('used')
    expect(status.lastSources).toEqual([seen])
    expect(status.lastSources[0].lastSeen).toBe(status.lastActivity)
    const own = await callFrom('127.0.0.6', keys, { token })
    expect(own.json.items.find((one: typeof own.json) => one.metadata.uid === metadata.uid).status.lastSources).toEqual(
      [seen],
    )
    const bob = await make('of-bob', { user: 'bob' })
    expect((await callFrom('127.0.0.6', `${keys}/used`, { token: bob })).status).toBe(404)
  })

  // threat: use-16
  test('is gone with the key', async () => {
    const token = await make('again')
    await callFrom('127.0.0.6', keys, { token })
    expect((await read('again')).status.lastSources).toHaveLength(1)
    await server.call(`${keys}/again`, { method: 'DELETE' })
    await make('again')
    expect((await read('again')).status).not.toHaveProperty('lastSources')
    const kept = (await server.store.all()).filter(({ sources }) => sources !== undefined)
    expect(kept.filter(({ name, sk }) => name === 'again' || sk === 'again')).toEqual([])
  })
})
