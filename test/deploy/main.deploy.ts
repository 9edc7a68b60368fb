/**
 * Deploys the packaged template with the command of the project on an emulator that enforces the roles.
 * The emulator lacks the following features, which other tests cover:
 * - streamed responses, and the authorizer's context in responses of the gateway: see the tests below that name them;
 * - conditions of roles on partitions, metrics, alarms and log searches: test/infra/roleenforcement.dynamodb.ts;
 * - throttling: test/infra/local/gateway/throttle.test.ts;
 * - point-in-time recovery: test/infra/restore.dynamodb.ts, which starts with a copy;
 * - reserved concurrency: test/infra/settings.test.ts.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  DeleteRolePolicyCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListRolesCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam'
import { CreateSecretCommand, GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { checks } from '../smoke/checks.ts'
import type { Answer, Client } from '../smoke/client.ts'
import { type Deployed, startDeployed } from './deployed.ts'

const stage = 'e2e'
const keys = '/apis/management.platform/v1/ownedaccesskeys'
const instances = '/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances'
const merge = 'application/merge-patch+json'

let at: Deployed
let deployed: Record<string, string>
let adminKey: string
let client: Client
/** Texts that must never be printed or logged. */
const confidential: string[] = []

const deploy = (signingKeys: string) => at.deploy('throttle-rate=100', `signing-keys=${signingKeys}`)

beforeAll(async () => {
  at = await startDeployed(stage, 'throttle-rate=100', 'signing-keys=1')
  ;({ said: deployed, adminKey, client } = at)
  confidential.push(adminKey)
}, 300_000)
afterAll(() => at?.stop())

async function post(path: string, body: object, token = adminKey): Promise<Answer> {
  const answer = await client.call(path, { method: 'POST', body, token })
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return answer
}

const status = async (path: string, token: string, method = 'GET') =>
  (await client.call(path, { method, token })).status

const typedObject = (kind: string, metadata: object, spec: object, group = 'management.platform/v1') => ({
  apiVersion: group,
  kind,
  metadata,
  spec,
})

async function makeKey(name: string, spec: object, token?: string): Promise<string> {
  const { json } = await post(keys, typedObject('OwnedAccessKey', { name }, spec), token)
  confidential.push(json.spec.key)
  return json.spec.key
}

/** Verifies a token with the published keys of the deployment. */
async function claimsOf(token: string, audience: string) {
  confidential.push(token)
  const { json } = await client.call('/openid/v1/jwks', { token: '' })
  const { payload } = await jwtVerify(token, createLocalJWKSet(json), { issuer: deployed.url ?? '', audience })
  return payload
}

test('deploy prints the URLs and what it created', () => {
  expect(deployed).toEqual({
    url: expect.stringMatching(/^https:\/\/.*\/e2e\/kubernetes\/management$/),
    table: expect.stringMatching(/^keyplane-e2e-/),
    pepper: 'made',
    'first key': `made, in secret keyplane/${stage}/access-key`,
    alarms: expect.stringContaining('keyplane-e2e-alarms'),
  })
})

test.each([
  ['throttle-rate=fast', 'must be integer'],
  ['throtle-rate=100', 'there is no setting throtle-rate'],
])('a deployment with %s fails before anything is deployed', async (setting, message) => {
  await expect(at.deploy(setting)).rejects.toThrow(message)
})

test('the emulator enforces roles', async () => {
  const health = await fetch(`${at.emulator.url}/_ministack/health`)
  expect(await health.json()).toMatchObject({ auth: 'enabled' })
})

test('API Gateway invokes functions with its role', async () => {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = at.emulator.environment
  const credentials = { accessKeyId, secretAccessKey }
  const iam = new IAMClient({ endpoint: at.emulator.url, region: 'eu-central-1', credentials })
  const { Roles = [] } = await iam.send(new ListRolesCommand({ MaxItems: 1000 }))
  const { RoleName } = Roles.find((role) => role.RoleName?.includes('GatewayInvokeRole')) ?? {}
  const policy = { RoleName, PolicyName: 'invoke' }
  const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand(policy))
  await iam.send(new DeleteRolePolicyCommand(policy))
  expect([await status('/version', ''), await status('/apis', adminKey)]).toEqual([500, 503])
  await iam.send(new PutRolePolicyCommand({ ...policy, PolicyDocument: decodeURIComponent(PolicyDocument) }))
  expect([await status('/version', ''), await status('/apis', adminKey)]).toEqual([200, 200])
  iam.destroy()
})

test('the deployer needs only the rights in infra/deployer.json', async () => {
  const credentials = {
    accessKeyId: at.deployer.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: at.deployer.AWS_SECRET_ACCESS_KEY ?? '',
  }
  const secrets = new SecretsManagerClient({ endpoint: at.emulator.url, region: 'eu-central-1', credentials })
  const read = new GetSecretValueCommand({ SecretId: `keyplane/${stage}/access-key` })
  await expect(secrets.send(read)).rejects.toThrow('not authorized')
  secrets.destroy()
})

test("the first key is an administrator's", async () => {
  const { json } = await post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  })
  expect(json.status.userInfo.groups).toContain('system:masters')
  expect(await status('/version', '')).toBe(200)
  expect(await status('/apis', '')).toBe(401)
  expect(await status('/apis', adminKey)).toBe(200)
  expect(await status('/nothing', adminKey)).toBe(404)
})

test('a key can be created, read, changed and restricted by a scope', async () => {
  const alice = await makeKey('alice', { user: 'alice', ttl: 3600 })
  const got = await client.call(`${keys}/alice`, { token: alice })
  expect(got.json.spec).toEqual({ user: 'alice', ttl: 3600 })
  const body = { metadata: { labels: { a: 'b' } } }
  const patched = await client.call(`${keys}/alice`, { method: 'PATCH', body, type: merge, token: alice })
  expect([patched.status, patched.json.metadata.labels]).toEqual([200, { a: 'b' }])
  const put = await client.call(`${keys}/alice`, { method: 'PUT', body: patched.json, token: alice })
  expect(put.status).toBe(200)

  const scoped = await makeKey('alice-ci', { ttl: 1800, scope: { projects: [{ project: 'demo' }] } }, alice)
  expect(await status(`${keys}/alice`, scoped)).toBe(403)
  expect(
    (await post('/apis/management.platform/v1/selves', typedObject('Self', {}, {}), scoped)).json.status.accessKey,
  ).toBe('alice-ci')
  expect(await status(`${keys}/alice`, await makeKey('bob', { user: 'bob' }))).toBe(404)
})

test('tokens are signed with the key of the deployment', async () => {
  const claims = await claimsOf(await clusterToken(), `${deployed.url}/clusters/west`)
  expect(claims).toMatchObject({ sub: 'admin', groups: expect.arrayContaining(['platform:admins']) })
})

test('a kube config contains a token for its virtual cluster', async () => {
  const { certificate: certificateAuthority } = await makeAuthority('test', validFor(1, Date.now()))
  const server = 'https://demo.example.com'
  const SecretString = kubeConfigFile({ name: 'manager', server, certificateAuthority, token: 'manager-token' })
  confidential.push('manager-token')
  await at.secrets.send(
    new CreateSecretCommand({ Name: `keyplane/${stage}/virtualclusters/p-demo/demo`, SecretString }),
  )
  const spec = { owner: { user: 'alice' }, accessPoint: { ingress: { host: 'demo.example.com' } } }
  const made = await post(instances, typedObject('VirtualClusterInstance', { name: 'demo' }, spec))
  const token = await makeKey('alice-demo', { user: 'alice', scope: { projects: [{ project: 'demo' }] } })
  expect(await status(`${instances}/demo`, token)).toBe(200)
  const { json } = await post(
    `${instances}/demo/kubeconfig`,
    typedObject('VirtualClusterInstanceKubeConfig', {}, {}),
    token,
  )
  const [, signed = ''] = /token: ([\w.-]+)/.exec(json.status.kubeConfig) ?? []
  const { uid } = made.json.metadata
  expect(await claimsOf(signed, `${deployed.url}/virtualclusters/p-demo/demo/${uid}`)).toMatchObject({ sub: 'alice' })
})

test('reviews authenticate and authorize keys', async () => {
  const west = await makeKey('carol-west', { user: 'carol', scope: { clusters: [{ cluster: 'west' }] } })
  const asked = typedObject('TokenReview', {}, { token: west }, 'authentication.k8s.io/v1')
  const { json } = await post('/apis/authentication.k8s.io/v1/tokenreviews', asked)
  expect(json.status).toMatchObject({ authenticated: true, user: { username: 'carol' } })
  const token = await makeKey('carol', { user: 'carol' })
  const resourceAttributes = { group: 'management.platform', resource: 'ownedaccesskeys', verb: 'get', name: 'carol' }
  const review = (kind: string, more = {}) =>
    typedObject(kind, {}, { resourceAttributes, ...more }, 'authorization.k8s.io/v1')
  const own = await post(
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    review('SelfSubjectAccessReview'),
    token,
  )
  expect(own.json.status.allowed).toBe(true)
  const bob = review('SubjectAccessReview', { user: 'bob' })
  expect((await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', bob)).json.status.allowed).toBe(false)
})

test('a revoked key is refused at the next request', async () => {
  const token = await makeKey('dave', { user: 'dave' })
  expect(await status(`${keys}/dave`, token)).toBe(200)
  const body = { spec: { disabled: true } }
  await client.call(`${keys}/dave`, { method: 'PATCH', body, type: merge })
  const refused = await client.call(`${keys}/dave`, { token })
  expect([refused.status, refused.json.message]).toEqual([401, 'access key is disabled'])
  expect(await status(`${keys}/dave`, adminKey, 'DELETE')).toBe(200)
  expect(await status(`${keys}/dave`, token)).toBe(401)
})

test('the stream of the table triggers the garbage collector', async () => {
  const parent = await post(instances, typedObject('VirtualClusterInstance', { name: 'parent' }, {}))
  const { uid } = parent.json.metadata
  const owner = { apiVersion: 'management.platform/v1', kind: 'VirtualClusterInstance', name: 'parent', uid }
  await post(instances, typedObject('VirtualClusterInstance', { name: 'child', ownerReferences: [owner] }, {}))
  expect(await status(`${instances}/parent`, adminKey, 'DELETE')).toBe(200)
  while ((await status(`${instances}/child`, adminKey)) !== 404) await delay(200)
})

test.each(checks.filter(({ emulated }) => emulated))('$name', ({ run }) => run(client))

test.each(checks.filter(({ emulated }) => !emulated))(
  'the emulator fails where AWS passes in `npm run smoke`: $name',
  async ({ run }) => {
    await expect(run(client)).rejects.toThrow()
  },
)

test.each<[name: string, request: () => Promise<unknown>]>([
  ['authorizer', () => status('/apis', adminKey)],
  ['ownedaccesskeys-create', () => makeKey(`logged-${Date.now()}`, {})],
  ['directclusterendpointtokens-create', () => clusterToken()],
])('the log of %s contains nothing confidential', async (name, request) => {
  // A busy emulator may lose late log lines of a function.
  for (;;) {
    const log = await at.osls('logs', '--function', name, '--startTime', '1h')
    const lines = log.split('\n').filter((line) => line.startsWith('{'))
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('message')
    for (const text of confidential) expect(log).not.toContain(text)
    if (lines.length > 0) return
    await request()
  }
})

async function clusterToken(): Promise<string> {
  const spec = { ttl: 600, scope: { clusters: [{ cluster: 'west' }] } }
  const path = '/apis/management.platform/v1/directclusterendpointtokens'
  return (await post(path, typedObject('DirectClusterEndpointToken', {}, spec))).json.status.token
}

const publishedKids = async (): Promise<string[]> => {
  const { json } = await client.call('/openid/v1/jwks', { token: '' })
  return json.keys.map(({ kid }: { kid: string }) => kid)
}

test('a second deployment keeps everything, publishes a new signing key before use and unpublishes an omitted one', async () => {
  const kept = { ...deployed, pepper: 'kept', 'first key': `kept, in secret keyplane/${stage}/access-key` }
  const [before] = await publishedKids()
  const old = await clusterToken()
  expect(await deploy('1,2')).toEqual(kept)
  expect(await at.secretText(`keyplane/${stage}/access-key`)).toBe(adminKey)
  expect(await status(`${keys}/alice`, adminKey)).toBe(200)
  const [first, second] = await publishedKids()
  expect([first, second]).toEqual([before, expect.not.stringMatching(before ?? '')])
  expect(decodeProtectedHeader(await clusterToken()).kid).toBe(first)

  expect(await deploy('2,1')).toEqual(kept)
  expect(await publishedKids()).toEqual([second, first])
  const fresh = await clusterToken()
  expect(decodeProtectedHeader(fresh).kid).toBe(second)
  for (const token of [old, fresh]) await claimsOf(token, `${deployed.url}/clusters/west`)

  expect(await deploy('2')).toEqual(kept)
  expect(await publishedKids()).toEqual([second])
  await claimsOf(fresh, `${deployed.url}/clusters/west`)
  await expect(claimsOf(old, `${deployed.url}/clusters/west`)).rejects.toThrow('no applicable key found')
})

test('remove asks for the stage and removes nothing after a different answer', async () => {
  const inTerminal = "python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)'"
  const command = `echo prod | ${inTerminal} npm run --silent remove -- --stage ${stage} --region eu-central-1`
  const stdout = expect.stringMatching(/Type the stage, e2e, to remove it: .*nothing was removed/s)
  await expect(at.run('bash', ['-c', command])).rejects.toMatchObject({ stdout })
  expect(await status('/version', '')).toBe(200)
})

test('remove keeps what cannot be recreated and says so', async () => {
  const said = await at.npm('remove', '--yes')
  expect(said).toContain(`table         ${deployed.table}`)
  expect(said).toMatch(/^pepper {8}\S+$/m)
  expect(said).toMatch(/^signing key {3}\S+$/m)
  expect(await status('/version', '')).toBe(404)
  const pepper = await at.secretText(/^pepper {8}(\S+)$/m.exec(said)?.[1] ?? '')
  confidential.push(...Object.values<string>(JSON.parse(pepper).peppers))
})

test('no command prints anything confidential', () => {
  expect(confidential.length).toBeGreaterThan(5)
  for (const text of confidential) expect(at.printed.join('\n')).not.toContain(text)
})
