/** Tests tokens and access keys in two connected clusters, eu and us: authentication, authorization and revocation. */

import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decodeJwt } from 'jose'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../infra/local/host/freeport.ts'
import type { WhenAway } from '../../lib/clusters/connect/clusterfiles.ts'
import { PRIVATE_CLAIM } from '../../lib/clusters/token/contract.ts'
import { signToken } from '../../lib/clusters/token/jwt.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { createCommandLine } from '../clients/cli/commandline.ts'
import { objectsIn, readExample } from '../support/examples.ts'
import { exchangeForm, type Federation, startFederation } from '../support/federation.ts'
import { createKubectl, type Kubectl, kubeConfig } from '../support/kubectl.ts'
import { patience } from '../support/patience.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeAccounts, registerAccounts } from './accounts.ts'
import { hasGo } from './golang.ts'
import { changeKey, clusters, directToken, type Key, makeKey, management } from './keys.ts'
import { chooseAddress, type Plane, startPlane } from './planes.ts'

let server: TestServer
let eu: Plane
let us: Plane
let federation: Federation
/** A key of alice in group dev, which has all rights in both clusters. */
let ci: Key
/** Has the audit logs of the clusters. */
let folder: string
/** Whether the last test has stopped the server. */
let gone = false

/** The clusters keep answers for 3 s, and kube-apiserver keeps tokens for 10 s. Machines may be slow. */
const forgotten = { ...patience, interval: 500 }

const SPACES = ['p-shop-s-dev', 'p-shop-s-test', 'p-garden-s-dev']

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
const whoami = (plane: Plane, token: string) =>
  plane.call('/apis/authentication.k8s.io/v1/selfsubjectreviews', { token }, { method: 'POST', body: review })
const maps = (namespace: string, name = '') => `/api/v1/namespaces/${namespace}/configmaps${name && `/${name}`}`
const map = (name: string) => ({ method: 'POST', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } } })

const bind = (group: string) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: group.replace(':', '-') },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
})

async function expectForbidden({ run }: Kubectl, args: string[]): Promise<void> {
  const { code, stderr } = await run(...args)
  expect([args, code, stderr]).toEqual([args, 1, expect.stringMatching(/Forbidden|forbidden/)])
}

async function connect(name: string, whenAway: WhenAway = 'refuse', flags: string[] = []): Promise<Plane> {
  const agent = await makeKey(server, {
    user: `agent-${name}`,
    scope: { roles: [{ role: 'agent' }], ...clusters(name) },
  })
  return startPlane(server, await chooseAddress(), {
    place: `clusters/${name}`,
    whenAway,
    accessKey: agent.value,
    signs: false,
    flags: [...flags, `--audit-policy-file=${join(folder, 'policy')}`, `--audit-log-path=${join(folder, name)}`],
  })
}

beforeAll(async () => {
  server = await startServer()
  folder = await mkdtemp(join(tmpdir(), 'keyplane-audit-'))
  const rules = [{ level: 'Metadata', omitStages: ['RequestReceived'] }]
  await writeFile(join(folder, 'policy'), JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }))
  federation = await startFederation(server)
  ;[eu, us] = await Promise.all([
    connect('eu'),
    connect('us', 'rbac', [`--api-audiences=https://kubernetes.default.svc,${server.base}/clusters/us`]),
  ])
  ci = await makeKey(server, { user: 'alice', groups: ['dev'], scope: clusters('eu', 'us') })
  for (const plane of [eu, us]) {
    for (const group of ['dev', 'platform:admins']) {
      const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
      await plane.call(path, plane.certificate, { method: 'POST', body: bind(group) })
    }
    for (const name of ['space', 'other', 'p-shop-s-dev-s-dev', ...SPACES])
      await plane.call('/api/v1/namespaces', plane.certificate, {
        method: 'POST',
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      })
    // kube-apiserver fetches the public keys in the background.
    const token = await directToken(server, ci)
    await vi.waitFor(async () => expect((await whoami(plane, token)).status).toBe(201), forgotten)
  }
})
afterAll(async () => {
  await Promise.all([eu?.stop(), us?.stop(), federation?.close()])
  if (!gone) await server?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

describe('a token', () => {
  test('authenticates as its user and groups with the extra values for the review', async () => {
    const token = await directToken(server, ci)
    const { status, json } = await whoami(eu, token)
    expect(status).toBe(201)
    const { extra, ...user } = json.status.userInfo
    expect(user).toEqual({ username: 'alice', groups: ['dev', 'system:authenticated'] })
    const { 'management.platform/scopes': scopes, ...others } = extra
    expect(scopes.map(JSON.parse)).toEqual([[clusters('eu', 'us')]])
    expect(others).toEqual({
      'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)],
      'management.platform/access-key': [ci.name],
      'management.platform/access-key-uid': [ci.uid],
      'management.platform/run': [`key ${ci.name}`],
      'management.platform/target': ['clusters/eu'],
      'management.platform/issued-at': [String(decodeJwt(token).iat)],
    })
  })

  // threat: tokens-2
  test('of an exchanged key, and the key itself, name the run of the job, which a branch cannot imitate', async () => {
    const client = await federation.trust('deploy', { scope: clusters('eu') })
    const claims = { repository: 'octo-org/shop', environment: 'production (run 1)', run_id: '1234567890' }
    const { json } = await federation.exchange(client, federation.sign(claims))
    const key = { name: 'deploy', uid: '', value: json.access_token }
    const run = ['octo-org/shop "production (run 1)" (run 1234567890)']
    for (const token of [await directToken(server, key), key.value]) {
      const { userInfo } = (await whoami(eu, token)).json.status
      expect(userInfo.extra['management.platform/run']).toEqual(run)
    }
  })

  test('of an administrator has the group platform:admins and no Kubernetes group', async () => {
    const admin = await makeKey(server, { user: 'root', groups: ['system:masters', 'system:nodes'] })
    const token = await directToken(server, admin)
    const { json } = await whoami(us, token)
    expect(json.status.userInfo.groups).toEqual(['platform:admins', 'system:authenticated'])
    expect((await us.call('/api/v1/nodes', { token })).status).toBe(200)
  })

  // threat: tokens-1
  test('is accepted only by the clusters in its audiences', async () => {
    const onlyEu = await directToken(server, ci, { scope: clusters('eu') })
    const onlyUs = await directToken(server, ci, { scope: clusters('us') })
    const statuses = (token: string) => Promise.all([eu, us].map(async (plane) => (await whoami(plane, token)).status))
    expect(await statuses(onlyEu)).toEqual([201, 401])
    expect(await statuses(onlyUs)).toEqual([401, 201])
    expect(await statuses(await directToken(server, ci))).toEqual([201, 201])
    expect(
      await statuses(await directToken(server, await makeKey(server, { user: 'x', scope: clusters('asia') }))),
    ).toEqual([401, 401])
    // The kube config of a Cluster has such a token, and works as it is.
    const object = { apiVersion: 'management.platform/v1', kind: 'Cluster', metadata: { name: 'eu' } }
    const certificateAuthorityData = Buffer.from(eu.authority.certificate).toString('base64')
    const spec = { server: eu.url, certificateAuthorityData, access: [{ verbs: ['use'], users: ['alice'] }] }
    await server.make(`${management}/clusters`, { ...object, spec })
    const path = `${management}/clusters/eu/kubeconfig`
    const made = await server.call(path, { method: 'POST', token: ci.value, body: { spec: { ttl: 600 } } })
    const kubectl = await createKubectl(made.json.status.kubeConfig)
    try {
      const who = await kubectl.run('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
      expect(who).toEqual({ code: 0, stdout: 'alice', stderr: '' })
      expect(await kubectl.run('get', 'configmaps', '-n', 'space')).toMatchObject({ code: 0 })
      const token = await kubectl.run('config', 'view', '--raw', '-o', 'jsonpath={.users[0].user.token}')
      expect(await statuses(token.stdout)).toEqual([201, 401])
    } finally {
      await kubectl.stop()
    }
  })

  test('is refused when any part of it is invalid', async () => {
    const now = Math.floor(Date.now() / 1000)
    const good = {
      iss: server.base,
      aud: [`${server.base}/clusters/eu`],
      sub: 'alice',
      groups: ['dev'],
      jti: randomUUID(),
      iat: now,
      nbf: now,
      exp: now + 600,
      [PRIVATE_CLAIM]: { key: { name: ci.name, uid: ci.uid, run: 'a run' }, scopes: '[]' },
    }
    const status = async (changes: object) =>
      (await whoami(eu, await signToken({ ...good, ...changes }, server.parts.signer))).status
    expect(await status({})).toBe(201)
    const changes = {
      expired: { exp: now - 1 },
      'not yet valid': { nbf: now + 300 },
      'for another cluster': { aud: [`${server.base}/clusters/us`] },
      'for a cluster whose name begins alike': { aud: [`${server.base}/clusters/eu2`] },
      'for a virtual cluster': { aud: [`${server.base}/virtualclusters/p-a/eu/1`] },
      'for nobody': { aud: [] },
      'of another issuer': { iss: `${server.base}/` },
      'of a user of Kubernetes': { sub: 'system:admin' },
      'of nobody': { sub: '' },
      'of administrators of Kubernetes': { groups: ['dev', 'system:masters'] },
      'without an access key': { [PRIVATE_CLAIM]: { key: { name: '', uid: '' }, scopes: '[]' } },
      'without scopes': { [PRIVATE_CLAIM]: { key: { name: ci.name, uid: ci.uid }, scopes: '' } },
      'without what is private': { [PRIVATE_CLAIM]: undefined },
    }
    const earlier = { key: { name: ci.name, uid: ci.uid }, scopes: '[]' }
    expect(await status({ [PRIVATE_CLAIM]: earlier })).toBe(201)
    for (const [name, change] of Object.entries(changes)) expect([name, await status(change)]).toEqual([name, 401])
    const token = await signToken(good, server.parts.signer)
    expect((await whoami(eu, `${token.slice(0, -4)}AAAA`)).status).toBe(401)
    expect((await whoami(eu, token.replace(/\.[^.]+$/, '.'))).status).toBe(401)
  })

  // threat: tokens-4
  test('scoped to one space can use that space only', async () => {
    const spaces = [{ project: 'shop', space: 'dev' }]
    const key = await makeKey(server, { user: 'alice', groups: ['dev'] })
    const token = await directToken(server, key, { scope: { spaces } })
    const kubectl = await createKubectl(kubeConfig(eu.url, eu.authority.certificate, token))
    for (const namespace of [...SPACES, 'other', 'p-shop-s-dev-s-dev'])
      await eu.call(maps(namespace), eu.certificate, map(`of-${namespace}`))
    try {
      const inSpace = ['-n', 'p-shop-s-dev']
      const listed = await kubectl.run('get', 'configmaps', '-o', 'name', ...inSpace)
      expect(listed).toEqual({ code: 0, stdout: 'configmap/of-p-shop-s-dev\n', stderr: '' })
      const allowed: string[][] = [
        ['get', 'configmap', 'of-p-shop-s-dev', ...inSpace],
        ['create', 'configmap', 'new', ...inSpace],
        ['label', 'configmap', 'new', 'a=b', ...inSpace],
        ['delete', 'configmap', 'new', ...inSpace],
        ['get', 'pods', ...inSpace],
        ['get', 'namespace', 'p-shop-s-dev'],
      ]
      for (const args of allowed)
        expect([args, await kubectl.run(...args)]).toEqual([args, expect.objectContaining({ code: 0 })])
      const elsewhere = ['default', 'kube-system', 'other', 'p-shop-s-test', 'p-garden-s-dev', 'p-shop-s-dev-s-dev']
      const refused: string[][] = [
        ...elsewhere.flatMap((namespace) => [
          ['get', 'configmaps', '-n', namespace],
          ['get', 'configmap', `of-${namespace}`, '-n', namespace],
          ['create', 'configmap', 'new', '-n', namespace],
          ['get', 'namespace', namespace],
        ]),
        ['get', 'configmaps', '-A'],
        ['get', 'namespaces'],
        ['get', 'nodes'],
        ['get', 'clusterroles'],
        ['create', 'namespace', 'p-shop-s-new'],
        ['get', '--raw', '/metrics'],
        ['get', 'configmaps', ...inSpace, '--as', 'root'],
      ]
      for (const args of refused) await expectForbidden(kubectl, args)
      for (const path of [
        'p-shop-s-dev/../other',
        'p-shop-s-dev%2f..%2fother',
        'p-shop-s-dev//../other',
        '../namespaces/other',
      ]) {
        const { code, stdout } = await kubectl.run('get', '--raw', `/api/v1/namespaces/${path}/configmaps`)
        expect([path, code, stdout]).toEqual([path, 1, ''])
      }
      const can = async (...args: string[]) =>
        (await kubectl.run('auth', 'can-i', ...args)).stdout.trim().split(/\s/)[0]
      expect(await can('delete', 'configmaps', ...inSpace)).toBe('yes')
      expect(await can('list', 'configmaps', '-n', 'p-shop-s-test')).toBe('no')
      expect(await can('list', 'configmaps', '-A')).toBe('no')
    } finally {
      await kubectl.stop()
    }
    // The scope of a space does not name its cluster; another scope of the chain does.
    expect((await us.call(maps('p-shop-s-dev'), { token })).status).toBe(200)
    expect((await us.call(maps('p-shop-s-test'), { token })).status).toBe(403)
    const ofEu = await makeKey(server, { user: 'alice', groups: ['dev'], scope: clusters('eu') })
    const here = await directToken(server, ofEu, { scope: { spaces } })
    expect((await eu.call(maps('p-shop-s-dev'), { token: here })).status).toBe(200)
    expect((await eu.call(maps('p-shop-s-test'), { token: here })).status).toBe(403)
    expect((await whoami(us, here)).status).toBe(401)
  })

  // threat: tokens-4
  test('scoped to read one namespace can do nothing else', async () => {
    const rule = { cluster: 'eu', namespaces: ['space'], verbs: ['get', 'list', 'watch'] }
    const token = await directToken(server, ci, { scope: { rules: [rule] } })
    const kubectl = await createKubectl(kubeConfig(eu.url, eu.authority.certificate, token))
    await eu.call(maps('space'), eu.certificate, map('shown'))
    await eu.call(maps('other'), eu.certificate, map('hidden'))
    try {
      const read = await kubectl.run('get', 'configmaps', '-n', 'space', '-o', 'name')
      expect(read).toEqual({ code: 0, stdout: 'configmap/shown\n', stderr: '' })
      const refused: string[][] = [
        ['get', 'configmaps', '-n', 'other'],
        ['get', 'configmap', 'hidden', '-n', 'other'],
        ['get', 'configmaps', '-A'],
        ['get', 'namespaces'],
        ['get', 'nodes'],
        ['get', 'clusterroles'],
        ['delete', 'configmap', 'shown', '-n', 'space'],
        ['create', 'configmap', 'new', '-n', 'space'],
        ['get', '--raw', '/metrics'],
        ['get', 'configmaps', '-n', 'space', '--as', 'root'],
      ]
      for (const args of refused) await expectForbidden(kubectl, args)
      const { stderr } = await kubectl.run('get', 'configmaps', '-n', 'other')
      expect(stderr).toContain('spec.scope does not allow list of configmaps in namespace "other" in cluster "eu"')
      expect((await kubectl.run('auth', 'can-i', 'list', 'configmaps', '-n', 'space')).stdout).toBe('yes\n')
      expect((await kubectl.run('auth', 'can-i', 'delete', 'configmaps', '-n', 'space')).stdout).toMatch(/^no\b/)
    } finally {
      await kubectl.stop()
    }
  })

  test('of a key without a scope is subject to RBAC only', async () => {
    const key = await makeKey(server, { user: 'bob' })
    const token = await directToken(server, key)
    const { status, json } = await eu.call(maps('space'), { token })
    expect([status, json.message]).toEqual([
      403,
      'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "space"',
    ])
    expect((await eu.call('/api', { token })).status).toBe(200)
  })
})

describe.skipIf(!hasGo)('the plugin in a ClusterProfile', () => {
  // threat: plugin-3
  test('gives a controller a token for the cluster that each profile names, and never the key', async () => {
    const cli = await createCommandLine(server, ci.value)
    const source = join(import.meta.dirname, '../clients/clusterprofiles')
    const go = async (...args: string[]) => (await promisify(execFile)('go', args, { cwd: source })).stdout.trim()
    const program = join(cli.home, 'clusterprofiles')
    await go('build', '-o', program, '.')
    const profiles = '/apis/multicluster.x-k8s.io/v1alpha1/namespaces/default/clusterprofiles'
    const call = async (path: string, method: string, body: object) => {
      const { status, json } = await eu.call(path, eu.certificate, { method, body })
      expect([status, json.message]).toEqual([expect.toBeOneOf([200, 201]), undefined])
      return json
    }
    const read = async (name: string) => JSON.parse(await readExample(`clusterprofile/${name}.json`))
    const [{ providers }, job] = await Promise.all(['providers', 'pod-variables'].map(read))
    const [{ execConfig, ...provider }] = providers
    const command = await cli.install()
    const namesIn = (env: { name: string }[]) => env.map(({ name }) => name)
    const key = { KEYPLANE_URL: server.base, KEYPLANE_KEY_FILE: await cli.write('key', ci.value) }
    const idToken = {
      KEYPLANE_CLIENT_ID: await federation.trust('controller', { scope: clusters('eu') }),
      KEYPLANE_ID_TOKEN_FILE: await cli.write('token', federation.sign()),
    }
    expect([namesIn(execConfig.env), namesIn(job)]).toEqual([Object.keys(key), Object.keys(idToken)])
    /** Returns what the program says to each profile, whose plugin has these variables. */
    const reviews = async (variables: object, files: readonly string[]) => {
      const all = Object.entries({ ...variables, KEYPLANE_CA: join(cli.home, 'ca.crt'), HOME: cli.home })
      const exec = { ...execConfig, command, env: all.map(([name, value]) => ({ name, value })) }
      const file = await cli.write('providers.json', JSON.stringify({ providers: [{ ...provider, execConfig: exec }] }))
      const args = ['--clusterprofile-provider-file', file, ...files]
      const { stdout } = await promisify(execFile)(program, args, { env: { PATH: process.env.PATH } })
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    }
    const crd = `${await go('list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/cluster-inventory-api')}/config/crd/bases`
    const definition = load(await readFile(join(crd, 'multicluster.x-k8s.io_clusterprofiles.yaml'), 'utf8')) as object
    await call('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'POST', definition)
    await vi.waitFor(async () => expect((await eu.call(profiles, eu.certificate)).status).toBe(200), forgotten)
    const [page] = await objectsIn('clusterprofile/clusterprofile.yaml')
    /** Returns a file with a profile that has been stored in a cluster. */
    const profile = async (name: string, plane: Plane, extension: object | undefined) => {
      const [{ cluster, ...access }] = page.status.accessProviders
      const [{ extension: _, ...exec }] = cluster.extensions
      const made = await call(profiles, 'POST', { ...page, metadata: { name } })
      const at = {
        server: plane.url,
        'certificate-authority-data': Buffer.from(plane.authority.certificate).toString('base64'),
        ...(extension && { extensions: [{ ...exec, extension }] }),
      }
      const status = { conditions: [], accessProviders: [{ ...access, cluster: at }] }
      const stored = await call(`${profiles}/${name}/status`, 'PUT', { ...made, status })
      return cli.write(`${name}.json`, JSON.stringify(stored))
    }
    try {
      const [{ extension }] = page.status.accessProviders[0].cluster.extensions
      const files = [
        await profile('eu', eu, extension),
        await profile('us', us, { cluster: 'us' }),
        await profile('us-as-eu', us, extension),
        await profile('without-a-name', eu, undefined),
        await profile('with-an-address', eu, { ...extension, server: 'https://evil.example.com' }),
        await profile('of-others', eu, { cluster: 'asia' }),
      ]
      const extra = (name: string) => ({
        'management.platform/target': [`clusters/${name}`],
        'management.platform/access-key': [ci.name],
      })
      const failed = { error: expect.stringContaining('failed with exit code') }
      expect(await reviews(key, files)).toEqual([
        { userInfo: expect.objectContaining({ username: 'alice', extra: expect.objectContaining(extra('eu')) }) },
        { userInfo: expect.objectContaining({ username: 'alice', extra: expect.objectContaining(extra('us')) }) },
        { error: '401 Unauthorized' },
        failed,
        failed,
        failed,
      ])
      const [{ userInfo }] = await reviews({ KEYPLANE_URL: server.base, ...idToken }, files.slice(0, 1))
      expect(userInfo.extra['management.platform/run']).toEqual(['octo-org/octo-repo (run 1234567890)'])
    } finally {
      await cli.stop()
    }
  })
})

describe('an access key', () => {
  test('authenticates where its scope names the cluster, with the rights that its scopes allow', async () => {
    const scope = { rules: [{ cluster: 'eu', namespaces: ['space'] }] }
    const { value, name } = await makeKey(server, { user: 'alice', groups: ['dev'], scope })
    const { status, json } = await whoami(eu, value)
    expect(status).toBe(201)
    expect(json.status.userInfo).toMatchObject({ username: 'alice', groups: ['dev', 'system:authenticated'] })
    expect(json.status.userInfo.extra['management.platform/access-key']).toEqual([name])
    expect((await eu.call(maps('space'), { token: value })).status).toBe(200)
    expect((await eu.call(maps('other'), { token: value })).status).toBe(403)
    expect((await whoami(us, value)).status).toBe(401)
  })

  test('for a space authenticates in a cluster that identifies itself, and can use that space', async () => {
    const key = await makeKey(server, {
      user: 'alice',
      groups: ['dev'],
      scope: { spaces: [{ project: 'shop', space: 'dev' }] },
    })
    expect((await us.call(maps('p-shop-s-dev'), { token: key.value })).status).toBe(200)
    expect((await us.call(maps('p-shop-s-test'), { token: key.value })).status).toBe(403)
    expect((await whoami(eu, key.value)).status).toBe(401)
  })

  test('without a scope authenticates nowhere', async () => {
    expect((await whoami(eu, server.adminKey)).status).toBe(401)
    expect((await whoami(eu, (await makeKey(server, { user: 'alice', groups: ['dev'] })).value)).status).toBe(401)
  })
})

describe.concurrent('a disabled key', () => {
  test('invalidates its tokens when the cluster cache expires', async ({ expect }) => {
    const key = await makeKey(server, { user: 'alice', groups: ['dev'] })
    const token = await directToken(server, key)
    expect((await eu.call(maps('space'), { token })).status).toBe(200)
    await changeKey(server, key, { disabled: true })
    await expect.poll(async () => (await eu.call(maps('space'), { token })).status, forgotten).toBe(403)
    const { json } = await eu.call(maps('space'), { token })
    expect(json.message).toContain('the access key no longer gives access')
    expect((await whoami(eu, token)).status).toBe(403)
  })

  test('is refused itself', async ({ expect }) => {
    const key = await makeKey(server, { user: 'alice', groups: ['dev'], scope: clusters('eu') })
    expect((await eu.call(maps('space'), { token: key.value })).status).toBe(200)
    await changeKey(server, key, { disabled: true })
    await expect
      .poll(async () => (await eu.call(maps('space'), { token: key.value })).status, forgotten)
      .toBeOneOf([401, 403])
    await expect.poll(async () => (await whoami(eu, key.value)).status, forgotten).toBe(401)
  })
})

describe('a key that was reported as leaked', () => {
  // threat: leaks-7
  test('invalidates its tokens although it is enabled again', async () => {
    const key = await makeKey(server, { user: 'alice', groups: ['dev'], scope: clusters('eu') })
    const token = await directToken(server, key)
    expect((await eu.call(maps('space'), { token })).status).toBe(200)
    expect((await eu.call(maps('space'), { token: key.value })).status).toBe(200)
    const body = { credentials: [key.value] }
    expect((await server.call('/leaks', { method: 'POST', token: '', body })).status).toBe(202)
    const value = generateAccessKey(randomBytes)
    await changeKey(server, key, { disabled: false, key: value })
    await expect.poll(async () => (await eu.call(maps('space'), { token })).status, forgotten).toBe(403)
    const { json } = await eu.call(maps('space'), { token })
    expect(json.message).toContain(
      'the access of the token was ended after it was issued: its access key was disabled, changed or reported as leaked. Get a new token',
    )
    await expect.poll(async () => (await eu.call(maps('space'), { token: key.value })).status, forgotten).toBe(401)
    // From half a minute after the report, the new value and its tokens work.
    const status = async (credential: string) => (await eu.call(maps('space'), { token: credential })).status
    await expect.poll(async () => status(value), forgotten).toBe(200)
    await expect.poll(async () => status(await directToken(server, { ...key, value })), forgotten).toBe(200)
  })
})

describe('one request of a job', () => {
  const accounts = ['accounts-eu', 'accounts-us']
  const list = '/api/v1/namespaces/default/configmaps'
  let asia: Plane
  let folderOfJob: string
  /** The API server of each cluster. Those with flags also are those whose service accounts issue tokens, which need none. */
  let planes: Record<string, Plane>

  beforeAll(async () => {
    folderOfJob = await mkdtemp(join(tmpdir(), 'keyplane-job-'))
    asia = await connect('asia')
    planes = { eu, us, asia, 'accounts-eu': eu, 'accounts-us': us }
    for (const name of ['eu', 'us', 'asia']) {
      const plane = planes[name] as Plane
      const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
      await plane.call(path, plane.certificate, { method: 'POST', body: bind('team:shop') })
      const object = { apiVersion: 'management.platform/v1', kind: 'Cluster', metadata: { name } }
      const certificateAuthorityData = Buffer.from(plane.authority.certificate).toString('base64')
      const access = [{ verbs: ['use'], users: ['alice'], teams: ['shop'] }]
      const spec = { server: plane.url, certificateAuthorityData, access }
      const { status } = await server.call(`${management}/clusters/${name}?fieldManager=job&force=true`, {
        method: 'PATCH',
        body: { ...object, spec },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      })
      expect([name, status]).toEqual([name, expect.toSatisfy((code) => code < 300)])
    }
    for (const name of accounts) {
      const plane = planes[name] as Plane
      const at = {
        url: plane.url,
        authority: plane.authority.certificate,
        token: await makeAccounts(plane, 'team.shop'),
      }
      await registerAccounts(server, name, at, { teams: ['shop'] })
    }
    // Nothing listens there.
    const at = { url: `https://127.0.0.1:${await freePort()}`, authority: eu.authority.certificate, token: 'none' }
    await registerAccounts(server, 'dead', at, { teams: ['shop'] })
  })
  afterAll(async () => {
    await asia?.stop()
    await rm(folderOfJob, { recursive: true, force: true })
  })

  /** Sends the one request as the page on exchanges does, and returns the answer and its code. */
  async function curl(client: string, token: string, names: readonly string[]): Promise<[code: string, text: string]> {
    const [authority, form] = [join(folderOfJob, 'ca'), join(folderOfJob, 'form')]
    await writeFile(authority, server.certificateAuthority)
    await writeFile(form, exchangeForm(client, token))
    const { stdout } = await promisify(execFile)('curl', [
      ...['-sS', '--cacert', authority, '-H', 'Accept: application/yaml;as=KubeConfig', '-d', `@${form}`],
      ...names.flatMap((name) => ['-d', `audience=clusters/${name}`]),
      ...['-w', '\\n%{http_code}', `${server.base}/oauth2/token`],
    ])
    const end = stdout.lastIndexOf('\n')
    return [stdout.slice(end + 1), stdout.slice(0, end)]
  }

  /** Returns what is said about the Secrets of the keys of a trust. */
  const secretsIn = async (name: string, trust = 'fleet') => {
    const plane = planes[name] as Plane
    const { json } = await plane.call('/api/v1/namespaces/keyplane/secrets', plane.certificate)
    const all: { metadata: { annotations?: Record<string, string> } }[] = json.items
    const keyIn = (annotations: Record<string, string> = {}) => annotations['management.platform/access-key'] ?? ''
    return all
      .map(({ metadata }) => metadata.annotations)
      .filter((annotations) => keyIn(annotations).startsWith(`${trust}-`))
  }

  // threat: exchange-60
  test('gets one kube config for five clusters, each token ends by itself, and each cluster knows the run', async () => {
    const names = Object.keys(planes)
    const client = await federation.trust('fleet', { scope: clusters(...names) })
    const claims = { repository: 'octo-org/shop', environment: 'production', run_id: '4711' }
    const [code, text] = await curl(client, federation.sign(claims), names)
    expect([code, text]).toEqual(['200', expect.stringContaining('kind: Config')])
    const config = load(text) as { users: { user: { token: string } }[]; contexts: { name: string }[] }
    const tokens = new Map(config.users.map(({ user: { token } }, index) => [names[index] ?? '', token]))
    const kubectl = await createKubectl(text)
    try {
      for (const { name } of config.contexts)
        await vi.waitFor(
          async () => expect(await kubectl.run('--context', name, 'get', 'configmaps')).toMatchObject({ code: 0 }),
          forgotten,
        )
    } finally {
      await kubectl.stop()
    }
    const statuses = async () =>
      Promise.all(
        names.map(async (name) => (await planes[name]?.call(list, { token: tokens.get(name) ?? '' }))?.status),
      )
    expect(await statuses()).toEqual([200, 200, 200, 200, 200])
    // Each is for its own cluster.
    expect((await us.call(list, { token: tokens.get('eu') ?? '' })).status).toBe(401)
    expect((await us.call(list, { token: tokens.get('accounts-eu') ?? '' })).status).toBe(401)

    const run = 'octo-org/shop production (run 4711)'
    for (const name of ['eu', 'us', 'asia']) {
      const events = (await readFile(join(folder, name), 'utf8')).trim().split('\n')
      const extras = events.map((line) => JSON.parse(line).user.extra ?? {})
      const own = extras.filter((extra) => extra['management.platform/access-key']?.[0].startsWith('fleet-'))
      expect(new Set(own.map((extra) => extra['management.platform/run'][0]))).toEqual(new Set([run]))
    }
    for (const name of accounts) expect(await secretsIn(name)).toMatchObject([{ 'management.platform/run': run }])

    const ends = async (name: string) => {
      const body = new URLSearchParams({ token: tokens.get(name) ?? '' }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
      const answer = await server.call('/oauth2/revoke', { method: 'POST', token: '', body, headers })
      expect([name, answer.status, answer.json]).toEqual([name, 200, { revoked: true }])
    }
    const expected = [200, 200, 200, 200, 200]
    for (const name of ['accounts-us', 'us', 'eu', 'accounts-eu', 'asia']) {
      await ends(name)
      expected[names.indexOf(name)] = name.startsWith('accounts') ? 401 : 403
      await vi.waitFor(async () => expect(await statuses()).toEqual(expected), forgotten)
    }
    expect([await secretsIn('accounts-eu'), await secretsIn('accounts-us')]).toEqual([[], []])
  })

  // threat: exchange-59
  test('gets nothing if one cluster is dead, which is named, and leaves nothing in the others', async () => {
    const names = ['eu', ...accounts, 'dead']
    const client = await federation.trust('dead', { scope: clusters(...names) })
    const token = federation.sign()
    const [code, text] = await curl(client, token, names)
    expect([code, JSON.parse(text)]).toEqual([
      '503',
      { error: 'temporarily_unavailable', error_description: expect.stringContaining('clusters/dead: ') },
    ])
    await vi.waitFor(
      async () => expect(await Promise.all(accounts.map((name) => secretsIn(name, 'dead')))).toEqual([[], []]),
      forgotten,
    )
    const keys = (await server.call(`${management}/ownedaccesskeys?limit=500`)).json.items
    expect(keys.filter(({ metadata }: Key & { metadata: Key }) => metadata.name.startsWith('dead-'))).toEqual([])
    // The ID token is whole.
    expect((await curl(client, token, ['eu', ...accounts]))[0]).toBe('200')
  })
})

/** The last test, because it stops the server. kube-apiserver retries its webhooks for about a minute. */
// threat: tokens-5
test('when the API is unavailable, clusters refuse its users and serve all others, or leave those to RBAC whom no scope restricts', async () => {
  const token = await directToken(server, ci)
  const free = await directToken(server, ci, { scope: clusters('us') })
  const narrow = await directToken(server, ci, { scope: { rules: [{ cluster: 'us', verbs: ['get'] }] } })
  const unused = await makeKey(server, { user: 'alice', groups: ['dev'], scope: clusters('eu') })
  expect((await eu.call(maps('space'), { token })).status).toBe(200)
  gone = true
  await server.stop()
  const asked = await eu.call(maps('space', 'never-asked-before'), { token })
  // The answer of kube-apiserver when an authorizer fails. Only its log has the cause.
  expect([asked.status, asked.json]).toEqual([500, expect.stringContaining('Internal Server Error')])
  expect((await eu.call('/api/v1/nodes', { token })).status).toBe(500)
  expect((await eu.call(maps('space'), { token: unused.value })).status).toBe(401)
  expect((await eu.call(maps('space'), eu.certificate)).status).toBe(200)
  expect((await eu.call('/api/v1/nodes', { token: eu.adminToken })).status).toBe(200)
  expect((await eu.call('/api/v1/namespaces', { token: eu.tokens.requester })).status).toBe(200)

  // This one was configured with --when-away rbac.
  const inUs = async (one: string, name: string) => (await us.call(maps('space', name), { token: one })).status
  expect([await inUs(free, 'absent'), await inUs(narrow, 'absent'), await inUs(token, 'absent')]).toEqual([
    404, 500, 500,
  ])
})
