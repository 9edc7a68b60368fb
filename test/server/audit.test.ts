/** Tests the audit record of each kind of outcome against the whole API in this process. docs/audit.md defines its members. */

import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { startVirtualCluster, type VirtualCluster } from '../../infra/local/virtualcluster/virtualcluster.ts'
import { NO_RIGHT } from '../../lib/access/users/reviewright.ts'
import { provider, providers, trust, trusts } from '../support/federation.ts'
import { apiVersion, instance, instances as instancesIn, keys, management } from '../support/objects.ts'
import type { Answer, Call } from '../support/request.ts'
import { applyPatch } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'
import { parseYaml } from '../support/yaml.ts'

const instances = instancesIn('p-a')
/** An unknown key with a valid checksum. */
const STRANGER = 'mpk_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2XPpx7'

// biome-ignore lint/suspicious/noExplicitAny: lines are JSON of every shape.
type Line = any

const server = useServer()
let cluster: VirtualCluster
let alice: { name: string; uid: string; value: string }

const records = (): Line[] => server.log.map((line) => JSON.parse(line)).filter(({ message }) => message === 'audit')

/** Sends a request and returns the answer and its only audit record. */
async function callAudited(path: string, call: Call = {}): Promise<{ answer: Answer; record: Line }> {
  const answer = await server.call(path, call)
  const found = records().filter(({ requestId }) => requestId === answer.headers['audit-id'])
  expect(found).toHaveLength(1)
  const { latencyMs, requestId, ...record } = withoutMetrics(found[0])
  expect(latencyMs).toBeGreaterThanOrEqual(0)
  expect(record.code).toBe(answer.status)
  return { answer, record }
}

/** Returns the record without its metrics, which `test/server/metrics.test.ts` covers. */
function withoutMetrics({ _aws, ...line }: Line): Line {
  for (const { Dimensions, Metrics } of _aws.CloudWatchMetrics) {
    const names = [...Dimensions.flat(), ...Metrics.map(({ Name }: { Name: string }) => Name)]
    for (const name of names) delete line[name]
  }
  return line
}

const creation = (spec: object, metadata: object = {}, kind = 'OwnedAccessKey') => ({
  method: 'POST',
  body: { apiVersion, kind, metadata, spec },
})
const mergePatch = { 'content-type': 'application/merge-patch+json' }

async function makeKey(spec: object, metadata?: object) {
  const { token: value, ...key } = await server.makeKey(spec, metadata)
  return { ...key, value }
}

/** Members of every record in these tests. */
const common = { level: 'info', message: 'audit', sourceIp: '127.0.0.1' }
const byAlice = () => ({ user: 'alice', key: 'alice', keyUid: alice.uid })
const byAdmin = { user: 'admin', key: expect.any(String), keyUid: expect.any(String) }
const ofKeys = { apiGroup: 'management.platform', resource: 'ownedaccesskeys' }

beforeAll(async () => {
  cluster = await startVirtualCluster({ now: Date.now })
  alice = await makeKey({ user: 'alice' }, { name: 'alice' })
  const { url, certificateAuthority, token } = cluster
  const kept = kubeConfigFile({ name: 'manager', server: url, certificateAuthority, token: token.manager })
  await server.keepCredentials('p-a/x', kept)
  const accessPoint = { ingress: { host: new URL(url).host } }
  await server.make(instances, instance('x', { owner: { user: 'alice' }, accessPoint }))
})
afterAll(() => cluster?.close())

describe('the audit record of an allowed request', () => {
  test('names the user, the key, the object of a read and the rules that allowed it, by the line of its scope', async () => {
    const { record } = await callAudited(`${keys}/alice`, { token: alice.value })
    const said = { verb: 'get', name: 'alice', decision: 'allow', reason: 'no scope; own access key', code: 200 }
    expect(record).toEqual({ ...common, ...byAlice(), ...ofKeys, ...said })
    const { value } = await makeKey({ user: 'alice', scope: { roles: [{ role: 'runner' }, { role: 'platformCLI' }] } })
    const scoped = await callAudited(`${keys}/alice`, { token: value })
    expect(scoped.record.reason).toBe('spec.scope.roles[1]; own access key')
  })

  test('names the created object, including one named by generateName', async () => {
    const { answer, record } = await callAudited(keys, {
      ...creation({}, { generateName: 'made-' }),
      token: alice.value,
    })
    expect(record).toEqual({
      ...common,
      ...byAlice(),
      ...ofKeys,
      verb: 'create',
      name: answer.json.metadata.name,
      uid: answer.json.metadata.uid,
      credential: 'access key',
      decision: 'allow',
      reason: 'no scope',
      code: 201,
    })
  })

  test('lists a new value of a key as a credential, and no other change', async () => {
    const { name } = await makeKey({ user: 'alice' })
    const patch = (spec: object) =>
      callAudited(`${keys}/${name}`, { method: 'PATCH', body: { spec }, headers: mergePatch })
    const rotated = await patch({ key: 'the-value-after-rotation-0123456789' })
    expect(rotated.record).toMatchObject({
      verb: 'patch',
      name,
      credential: 'access key',
      reason: 'no scope; system:masters',
    })
    expect((await patch({ description: 'x' })).record).not.toHaveProperty('credential')
  })

  test('names the object that a field selector names, and those of a deleted collection', async () => {
    const { record } = await callAudited(`${keys}?fieldSelector=metadata.name%3Dalice&limit=5`)
    expect(record).toMatchObject({ ...byAdmin, ...ofKeys, verb: 'list', name: 'alice', code: 200 })
    for (const name of ['bulk-b', 'bulk-a']) await makeKey({ user: 'bulk' }, { name })
    const bulk = await callAudited(`${keys}?fieldSelector=spec.user%3Dbulk`, { method: 'DELETE' })
    expect(bulk.record).toMatchObject({ verb: 'deletecollection', count: 2, names: ['bulk-a', 'bulk-b'], code: 200 })
  })

  test('names the keys that a revocation changed, and counts those that it could not change', async () => {
    const caller = await makeKey({ user: 'carol' })
    await makeKey({ user: 'carol' }, { name: 'revoked' })
    await makeKey({ user: 'carol', groups: ['ops'] }, { name: 'protected' })
    const asked = creation({ names: ['revoked', 'protected'] }, {}, 'AccessKeyRevocation')
    const path = '/apis/management.platform/v1/accesskeyrevocations'
    const { record } = await callAudited(path, { ...asked, token: caller.value })
    expect(record).toMatchObject({ verb: 'create', resource: 'accesskeyrevocations', code: 201 })
    expect(record).toMatchObject({ count: 1, names: ['revoked'], failed: 1 })
  })

  test('names the trusts that a revocation closed', async () => {
    const login = { issuer: 'https://login.example.com', access: [{ verbs: ['use'], teams: ['*'] }] }
    await server.make(providers, provider('login', login))
    const { value: token } = await makeKey({ user: 'dora' })
    const scope = { projects: [{ project: 'shop' }] }
    const spec = { identityProvider: 'login', claims: [{ claim: 'sub', values: ['dora'] }], scope }
    expect((await server.call(trusts, { method: 'POST', body: trust('of-dora', spec), token })).status).toBe(201)
    const asked = creation({ users: ['dora'], federatedIdentityCredentials: true }, {}, 'AccessKeyRevocation')
    const { record } = await callAudited('/apis/management.platform/v1/accesskeyrevocations', asked)
    expect(record).toMatchObject({ federatedIdentityCredentials: ['of-dora'], count: 1 })
  })

  test('marks a dry run', async () => {
    for (const call of [creation({}, { name: 'dry' }), { method: 'DELETE', path: '/alice' }]) {
      const { record } = await callAudited(`${keys}${'path' in call ? call.path : ''}?dryRun=All`, call)
      expect(record).toMatchObject({ dryRun: true, decision: 'allow' })
    }
    expect((await callAudited(`${keys}/alice`)).record).not.toHaveProperty('dryRun')
  })

  test.each<[string, string, Call, object]>([
    ['is invalid', keys, creation({ ttl: -1 }, { name: 'x' }), { code: 422 }],
    ['names a missing object', `${keys}/nobody`, {}, { code: 404, name: 'nobody' }],
    ['no endpoint serves', '/nothing/here', {}, { verb: 'get', path: '/nothing/here', code: 404 }],
    ['the client is at fault for', `${keys}?resourceVersion=999999999`, {}, { code: 504, fault: 'client' }],
  ])('allows a request that %s', async (_, path, call, expected) => {
    const { record } = await callAudited(path, { ...call, token: alice.value })
    expect(record).toMatchObject({ ...byAlice(), decision: 'allow', ...expected })
    if ('path' in expected) expect(record).not.toHaveProperty('resource')
  })

  test('gives the reason public for requests that need no key', async () => {
    const { record } = await callAudited('/version', { token: '' })
    expect(record).toEqual({ ...common, verb: 'get', path: '/version', decision: 'allow', reason: 'public', code: 200 })
  })
})

describe('the audit record of a denied request', () => {
  test('names the scope that denied the request', async () => {
    const { name, uid, value } = await makeKey({ user: 'alice', scope: { projects: [{ project: 'a' }] } })
    const { record } = await callAudited(`${keys}/alice`, { token: value })
    expect(record).toEqual({
      ...common,
      ...ofKeys,
      user: 'alice',
      key: name,
      keyUid: uid,
      verb: 'get',
      name: 'alice',
      decision: 'deny',
      reason: 'spec.scope does not allow get of ownedaccesskeys "alice"',
      code: 403,
    })
  })

  // threat: users-22
  test.each<[string, string, Call, string]>([
    [
      'the object is forbidden',
      '/alice/status',
      { method: 'PATCH', body: { status: {} }, headers: mergePatch },
      'only system:masters may write the status of access keys',
    ],
    [
      'the body asks for something forbidden',
      '',
      creation({ groups: ['ops'] }, { name: 'x' }),
      'spec.groups: "alice" is not in group "ops"',
    ],
    ['the request impersonates', '/alice', { headers: { 'impersonate-user': 'alice' } }, 'cannot impersonate'],
  ])('gives the reason when %s', async (_, path, call, reason) => {
    const { record } = await callAudited(`${keys}${path}`, { ...call, token: alice.value })
    expect(record).toMatchObject({ decision: 'deny', code: 403, reason: expect.stringContaining(reason) })
  })

  // threat: users-21
  test('denies an apply that would create an object that the scope does not allow to create', async () => {
    const { value: token } = await makeKey({ user: 'alice', scope: { rules: [{ verbs: ['patch'] }] } })
    const body = { apiVersion, kind: 'OwnedAccessKey', metadata: { name: 'applied' } }
    const { record } = await callAudited(`${keys}/applied?fieldManager=x`, applyPatch(body, token))
    const reason = 'spec.scope does not allow create of ownedaccesskeys "applied"'
    expect(record).toMatchObject({ decision: 'deny', reason, code: 403 })
  })

  // The client sees the 404 of a missing object.
  // threat: logs-5
  test('records hidden objects as denied, although the answer is 404', async () => {
    const { name } = await makeKey({ user: 'bob' })
    const { answer, record } = await callAudited(`${keys}/${name}`, { token: alice.value })
    expect(answer.json.message).toBe(`ownedaccesskeys.management.platform "${name}" not found`)
    expect(record).toMatchObject({ decision: 'deny', reason: 'not visible to this user', code: 404, name })
  })
})

describe('a request without a user', () => {
  test.each([
    { what: 'no key', token: '', reason: 'no bearer token' },
    { what: 'text that is not a key', token: 'some-password', reason: 'not an access key' },
    { what: 'an unknown key', token: STRANGER, reason: 'unknown access key' },
  ])('$what', async ({ token, reason }) => {
    const { record } = await callAudited(`${keys}/alice`, { token })
    const asked = { verb: 'get', name: 'alice', ...ofKeys }
    expect(record).toEqual({ ...common, ...asked, decision: 'deny', reason, code: 401 })
    if (token) expect(server.log.join('')).not.toContain(token.slice(0, 8))
  })

  // Requests with invalid keys reach a handler, which gives the reason; the record is already written.
  test.each([
    { reason: 'access key is disabled', spec: { disabled: true } },
    { reason: 'access key is being deleted', metadata: { finalizers: ['example.com/hold'] } },
  ])('is recorded with the reason $reason', async ({ reason, spec = {}, metadata = {} }) => {
    const { name, uid, value } = await makeKey({ user: 'alice', ...spec }, { generateName: 'dead-', ...metadata })
    if ('finalizers' in metadata) await server.call(`${keys}/${name}`, { method: 'DELETE' })
    const { record } = await callAudited(`${keys}/alice`, { token: value })
    expect(record).toEqual({
      ...common,
      ...ofKeys,
      user: 'alice',
      key: name,
      keyUid: uid,
      verb: 'get',
      name: 'alice',
      decision: 'deny',
      reason,
      code: 401,
    })
  })

  test('is recorded when its path is ambiguous', async () => {
    const { record } = await callAudited(`${keys}/a%252Fb`, { token: alice.value })
    expect(record).toMatchObject({ ...byAlice(), verb: 'get', path: expect.stringMatching(/\{name\}$/), code: 400 })
    expect(record).toMatchObject({ decision: 'deny', reason: expect.stringContaining('Name parameter invalid') })
  })
})

describe('issued credentials', () => {
  const { apiGroup } = ofKeys
  const ofInstance = { apiGroup, resource: 'virtualclusterinstances', namespace: 'p-a', name: 'x' }
  const allowed = { decision: 'allow', reason: 'no scope; spec.owner', code: 201 }
  const ofCreation = { ...ofInstance, verb: 'create', subresource: 'kubeconfig', ...allowed }
  const kubeConfig = (spec: object, query = '', headers: Record<string, string> = {}) =>
    callAudited(`${instances}/x/kubeconfig${query}`, {
      ...creation(spec, {}, 'VirtualClusterInstanceKubeConfig'),
      token: alice.value,
      headers,
    })
  const directToken = (spec: object, query = '', headers: Record<string, string> = {}) =>
    callAudited(`${management}/directclusterendpointtokens${query}`, {
      ...creation(spec, {}, 'DirectClusterEndpointToken'),
      token: alice.value,
      headers,
    })

  test('names the token of a kube config by its ID', async () => {
    const { answer, record } = await kubeConfig({ certificateTTL: 3600 })
    const { jti, aud } = decodeJwt((await parseYaml(answer.json.status.kubeConfig)).users[0].user.token)
    expect(record).toEqual({
      ...common,
      ...byAlice(),
      ...ofCreation,
      uid: answer.json.metadata.uid,
      credential: 'token',
      jti,
      audiences: aud,
      expires: answer.json.status.expirationTimestamp,
    })
  })

  test('names the client certificate of a kube config by its serial number', async () => {
    const { answer, record } = await kubeConfig({ clientCert: true })
    const { user } = (await parseYaml(answer.json.status.kubeConfig)).users[0]
    const certificate = new X509Certificate(Buffer.from(user['client-certificate-data'], 'base64'))
    expect(record).toMatchObject({
      ...ofInstance,
      credential: 'certificate',
      serial: certificate.serialNumber,
      expires: answer.json.status.expirationTimestamp,
    })
    expect(record).not.toHaveProperty('jti')
  })

  test('names a direct cluster endpoint token by its ID', async () => {
    const { answer, record } = await directToken({ ttl: 600, scope: { clusters: [{ cluster: 'eu' }] } })
    const { jti, aud } = decodeJwt(answer.json.status.token)
    expect(record).toEqual({
      ...common,
      ...byAlice(),
      apiGroup: 'management.platform',
      resource: 'directclusterendpointtokens',
      verb: 'create',
      credential: 'token',
      jti,
      audiences: aud,
      expires: answer.json.status.expirationTimestamp,
      decision: 'allow',
      reason: 'no scope',
      code: 201,
    })
  })

  // Anyone who reads the log learns which credential was issued, and never the credential.
  // threat: logs-2
  test('is the same for an ExecCredential, and contains no part of it', async () => {
    const headers = { accept: 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1' }
    const token = await kubeConfig({}, '', headers)
    const certificate = await kubeConfig({ clientCert: true }, '', headers)
    const made = [token, certificate, await directToken({}, '', headers)]
    expect(made.map(({ answer }) => answer.json.kind)).toEqual(Array(3).fill('ExecCredential'))
    expect(made.map(({ record }) => record.credential)).toEqual(['token', 'certificate', 'token'])
    for (const { answer, record } of made) {
      const { expirationTimestamp, token, clientKeyData } = answer.json.status
      expect(record.expires).toBe(expirationTimestamp)
      const secret: string = token?.split('.')[2] ?? clientKeyData.split('\n')[1]
      expect(server.log.join('')).not.toContain(secret)
    }
    expect(token.record.jti).toBe(decodeJwt(token.answer.json.status.token).jti)
    const { clientCertificateData } = certificate.answer.json.status
    expect(certificate.record.serial).toBe(new X509Certificate(clientCertificateData).serialNumber)
  })

  // threat: logs-2
  test('says that a kube config with a plugin has no credential', async () => {
    const { answer, record } = await kubeConfig({ exec: { command: 'curl', args: ['an-argument'] } })
    const { uid } = answer.json.metadata
    expect(record).toEqual({ ...common, ...byAlice(), ...ofCreation, uid, credential: 'none' })
  })

  // threat: users-23
  test('names the kind of credential that a dry run would issue, but no ID, and none of a refused kube config', async () => {
    const query = '?dryRun=All'
    const made = [
      await directToken({}, query),
      await kubeConfig({}, query),
      await kubeConfig({ clientCert: true }, query),
    ]
    expect(made.map(({ record }) => record.credential)).toEqual(['token', 'token', 'certificate'])
    for (const { record } of made) {
      expect(record.dryRun).toBe(true)
      for (const one of ['jti', 'serial']) expect(record).not.toHaveProperty(one)
    }
    const { value: token } = await makeKey({ user: 'bob' })
    const asked = creation({}, {}, 'VirtualClusterInstanceKubeConfig')
    const { record } = await callAudited(`${instances}/x/kubeconfig`, { ...asked, token })
    expect(record).toMatchObject({ ...ofInstance, decision: 'deny', reason: 'not visible to this user', code: 404 })
    expect(record).not.toHaveProperty('credential')
  })

  test('records which key a review identified and which access it denied', async () => {
    const scope = { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] }
    const agent = await makeKey({ user: 'agent', scope })
    const ci = await makeKey({ user: 'alice', scope: { clusters: [{ cluster: 'eu' }] } })
    const reviews = '/apis/authentication.k8s.io/v1/tokenreviews'
    const ask = (token: string) =>
      callAudited(reviews, {
        token: agent.value,
        method: 'POST',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
      })
    const known = await ask(ci.value)
    expect(known.record).toMatchObject({ user: 'agent', review: 'authenticated', reviewedKey: ci.name })
    const unknown = await ask(STRANGER)
    expect(unknown.record).toMatchObject({ user: 'agent', review: 'not authenticated', decision: 'allow', code: 201 })
    expect(unknown.record).not.toHaveProperty('reviewedKey')
  })

  // The answer denies it in the form of a review, with a code below 300.
  test.each([
    ['authentication', 'TokenReview', { token: 'a-token' }],
    ['authorization', 'SubjectAccessReview', { user: 'bob', nonResourceAttributes: { path: '/', verb: 'get' } }],
  ])('says that a key may not create reviews (%s)', async (group, kind, spec) => {
    const apiVersion = `${group}.k8s.io/v1`
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`
    const ask = async (key: object) => {
      const { value } = await makeKey({ user: 'bob', ...key })
      return callAudited(path, { token: value, method: 'POST', body: { apiVersion, kind, spec } })
    }
    // Only its scope keeps an administrator from them.
    const outside = await ask({ groups: ['system:masters'], scope: { projects: [{ project: 'web' }] } })
    expect(outside.answer.status).toBe(201)
    expect(outside.record).toMatchObject({ user: 'bob', decision: 'deny', code: 201 })
    expect(outside.record.reason).toMatch(/^spec\.scope does not allow create of /)
    const unentitled = await ask({})
    expect(unentitled.record).toMatchObject({ user: 'bob', decision: 'deny', code: 201, reason: NO_RIGHT })
    for (const { answer, record } of [outside, unentitled]) {
      expect(record).not.toHaveProperty('denial')
      const lines = server.log.map((line) => JSON.parse(line))
      const ofRequest = lines.filter(({ requestId }) => requestId === answer.headers['audit-id'])
      expect(ofRequest.map(({ message, authorization }) => [message, authorization])).toEqual([
        ['authorization', 'denied'],
        ['audit', undefined],
      ])
    }
  })
})

describe('the audit record', () => {
  // threat: logs-1
  test('redacts anything that looks like a credential, wherever it appears', async () => {
    const { value } = await makeKey({})
    const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl'
    const path = await callAudited(`${keys}/${value}`)
    expect(path.record.name).toBe('<redacted>')
    const agent = await callAudited(`/${jwt}/x`, { headers: { 'user-agent': `curl ${value} ${jwt}` } })
    expect([agent.record.path, agent.record.userAgent]).toEqual(['/<redacted>/x', 'curl <redacted> <redacted>'])
    expect(server.log.join('')).not.toContain(value)
  })

  // threat: logs-3
  test('is one line of printable text, whatever names and headers contain', async () => {
    const before = server.log.length
    const name = encodeURIComponent('a\n{"message":"audit","user":"root"}\u2028\u202e\u0000')
    const { record } = await callAudited(`${keys}?fieldSelector=metadata.name%3D${name}`, {
      headers: { 'user-agent': 'tab\there \u00ff\u0085' },
    })
    const lines = server.log.slice(before)
    expect(lines.map((line) => line.indexOf('\n') === line.length - 1)).toEqual(lines.map(() => true))
    expect(JSON.stringify(record)).not.toMatch(/\\[nrtu]|[^\P{C}]|\u2028/u)
    expect(record.user).toBe('admin')
  })

  // threat: logs-3
  test('limits the user agent to 128 characters, names to 256, a reason to 512 and audiences to 16', async () => {
    const long = 'x'.repeat(3000)
    const { record } = await callAudited(`${keys}?fieldSelector=metadata.name%3D${long}`, {
      headers: { 'user-agent': long },
    })
    expect([record.userAgent.length, record.name.length]).toEqual([128, 256])
    const { value } = await makeKey({ user: 'alice', scope: {} })
    const denied = await callAudited(`${keys}?fieldSelector=metadata.name%3D${long}`, { token: value })
    expect(denied.record).toMatchObject({ decision: 'deny', code: 403 })
    expect(denied.record.reason).toHaveLength(512)
    const clusters = Array.from({ length: 17 }, (_, number) => ({ cluster: `c-${number}` }))
    const token = creation({ scope: { clusters } }, {}, 'DirectClusterEndpointToken')
    expect((await callAudited(`${management}/directclusterendpointtokens`, token)).record.audiences).toHaveLength(16)
    expect(Math.max(...server.log.map((line) => line.length))).toBeLessThan(4096)
  })

  test('has only members that docs/audit.md explains, as does its example', async () => {
    // test/server/oauth.attacks.test.ts has the records of exchanges.
    const text = await readFile(join(import.meta.dirname, '../../docs/audit.md'), 'utf8')
    const [page = ''] = text.split('\n## Exchanges\n')
    const rows = page.split('\n').filter((line) => line.startsWith('| `'))
    const explained = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
    const [example = ''] = /^ {4}\{.*\}$/m.exec(page) ?? []
    const used = new Set(
      [...records().map(withoutMetrics), JSON.parse(example)].flatMap((record) => Object.keys(record)),
    )
    expect([...used].filter((name) => !explained.includes(name))).toEqual([])
    // test/server/oauth.targets.test.ts has those of tokens of service accounts.
    expect(explained.filter((name) => !used.has(name ?? ''))).toEqual(['account', 'secret'])
  })
})
