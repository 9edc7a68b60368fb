/** Tests of the API of a deployment: its functions, their roles, and what its gateway does. */
import { setTimeout as delay } from 'node:timers/promises'
import {
  DeleteRolePolicyCommand,
  GetRolePolicyCommand,
  IAMClient,
  ListRolesCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam'
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { checks } from '../smoke/checks.ts'
import {
  adminKey,
  at,
  claimsOf,
  client,
  clusterToken,
  confidential,
  keys,
  makeKey,
  page,
  post,
  shell,
  stage,
  status,
  typedObject,
} from './place.ts'

const instances = '/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances'
const merge = 'application/merge-patch+json'

/** Defines the tests. */
export function describeApi(): void {
  test('the emulator enforces roles', async () => {
    const health = await fetch(`${at.emulator.url}/_ministack/health`)
    expect(await health.json()).toMatchObject({ auth: 'enabled' })
  })

  test('API Gateway invokes functions with its role', async () => {
    const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = at.emulator.environment
    const credentials = { accessKeyId, secretAccessKey }
    const iam = new IAMClient({ endpoint: at.emulator.url, region: 'eu-central-1', credentials })
    const { Roles = [] } = await iam.send(new ListRolesCommand({ MaxItems: 1000 }))
    const { RoleName } = Roles.find((role) => role.RoleName?.includes('GatewayFunctionsRole')) ?? {}
    const policy = { RoleName, PolicyName: 'invoke' }
    const { PolicyDocument = '' } = await iam.send(new GetRolePolicyCommand(policy))
    await iam.send(new DeleteRolePolicyCommand(policy))
    expect([await status('/version', ''), await status('/apis', adminKey)]).toEqual([500, 503])
    await iam.send(new PutRolePolicyCommand({ ...policy, PolicyDocument: decodeURIComponent(PolicyDocument) }))
    expect([await status('/version', ''), await status('/apis', adminKey)]).toEqual([200, 200])
    iam.destroy()
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
    const claims = await claimsOf(await clusterToken(), '/clusters/west')
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
    expect(await claimsOf(signed, `/virtualclusters/p-demo/demo/${uid}`)).toMatchObject({ sub: 'alice' })
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

  describe('npm run smoke', () => {
    let said: string
    beforeAll(async () => {
      // The emulator cannot pass all checks.
      const commands = `${page('Deploying', 0, { URL: at.url })
        .replace(/^npm run deploy .*\n/, '')
        .trimEnd()} || true`
      // The key is in no file.
      said = await shell(`first_key() { printf %s ${at.adminKey}; }`, commands)
    })

    test.each(checks.filter(({ emulated }) => emulated))('passes: $name', ({ name }) =>
      expect(said.split('\n')).toContain(`ok      ${name}`),
    )

    test.each(checks.filter(({ emulated }) => !emulated))(
      'fails on the emulator, and passes on AWS: $name',
      ({ name }) => expect(said.split('\n')).toContain(`failed  ${name}`),
    )

    test('counts them', () => {
      const emulated = checks.filter((check) => check.emulated).length
      expect(said).toContain(`${emulated} passed, ${checks.length - emulated} failed`)
    })
  })

  test.each<[name: string, request: () => Promise<unknown>]>([
    ['authorizer', () => status('/apis', adminKey)],
    ['ownedaccesskeys-create', () => makeKey(`logged-${Date.now()}`, {})],
    ['directclusterendpointtokens-create', () => clusterToken()],
  ])('the log of %s contains nothing confidential', async (name, request) => {
    // A busy emulator may lose late log lines of a function.
    for (;;) {
      const log = await shell(
        `aws logs filter-log-events --log-group-name /aws/lambda/keyplane-${stage}-${name} --query 'events[].[message]' --output text`,
      )
      const lines = log.split('\n').filter((line) => line.startsWith('{'))
      for (const line of lines) expect(JSON.parse(line)).toHaveProperty('message')
      for (const text of confidential) expect(log).not.toContain(text)
      if (lines.length > 0) return
      await request()
    }
  })
}
