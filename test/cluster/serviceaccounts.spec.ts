/**
 * Tests tokens of service accounts in three API servers without any flag of keyplane. Only a real one can say when it refuses a token
 * whose Secret is gone, and what the printed role allows.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { createCommandLine } from '../clients/cli/commandline.ts'
import { request } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { parseYaml } from '../support/yaml.ts'
import { makeAccounts, registerAccounts } from './accounts.ts'
import { changeKey, type Key, makeKey, management } from './keys.ts'
import { installMcpServer, mcpTools } from './mcpserver.ts'
import { chooseAddress } from './planes.ts'

interface Cluster extends ControlPlane {
  name: string
  folder: string
  call(token: string, path: string, body?: object): Promise<{ status: number; json: Record<string, unknown> }>
  /** The token of keyplane's own account. */
  own: string
}

let server: TestServer
let clusters: Cluster[]

async function startCluster(name: string): Promise<Cluster> {
  const { port, authority, url } = await chooseAddress()
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-accounts-'))
  const assets = process.env.KUBEBUILDER_ASSETS ?? ''
  const flags = ['--authorization-mode=RBAC']
  const plane = await startControlPlane({
    assets,
    folder,
    port,
    authority,
    users: [],
    flags,
    signs: false,
    now: Date.now,
  })
  const own = await makeAccounts(plane, 'user.alice')
  await registerAccounts(server, name, { url, authority: authority.certificate, token: own }, { users: ['alice'] })
  const agent = new https.Agent({ ca: authority.certificate })
  return {
    ...plane,
    name,
    folder,
    own,
    call: (token, path, body) => request(agent, url + path, { token, ...(body && { method: 'POST', body }) }),
  }
}

beforeAll(async () => {
  server = await startServer()
  clusters = []
  // One after another: together they are too much for a small machine.
  for (const name of ['one', 'two', 'three']) clusters.push(await startCluster(name))
})

afterAll(async () => {
  for (const { close, folder } of clusters ?? []) {
    await close()
    await rm(folder, { recursive: true, force: true })
  }
  await server?.stop()
})

const list = '/api/v1/namespaces/default/configmaps'

async function tokenFor(key: Key, { name }: Cluster): Promise<string> {
  const body = {
    apiVersion: 'management.platform/v1',
    kind: 'ClusterKubeConfig',
    metadata: { name },
    spec: { ttl: 600 },
  }
  const { status, json } = await server.post(`${management}/clusters/${name}/kubeconfig`, body, key.value)
  expect([status, json.message]).toEqual([201, undefined])
  return (await parseYaml(json.status.kubeConfig)).users[0].user.token
}

// threat: exchange-31
test('a token is accepted without any configuration, limited by RBAC, and refused within 15 seconds of the end of its key', async () => {
  const key = await makeKey(server, { user: 'alice' })
  const tokens = await Promise.all(clusters.map((cluster) => tokenFor(key, cluster)))
  const [first] = clusters
  // Two tokens of one key share a Secret.
  const another = await tokenFor(key, first as Cluster)
  for (const [index, cluster] of clusters.entries()) {
    expect((await cluster.call(tokens[index] ?? '', list)).status).toBe(200)
    expect((await cluster.call(tokens[index] ?? '', '/api/v1/nodes')).status).toBe(403)
    expect((await cluster.call(tokens[index] ?? '', '/api/v1/namespaces/keyplane/secrets')).status).toBe(403)
  }
  const disabled = Date.now()
  await changeKey(server, key, { disabled: true })
  for (const [cluster, token] of [
    ...clusters.map((one, index) => [one, tokens[index]] as const),
    [first, another] as const,
  ])
    await vi.waitFor(async () => expect((await cluster?.call(token ?? '', list))?.status).toBe(401), {
      timeout: 60_000,
      interval: 250,
    })
  process.stdout.write(`refused everywhere after ${(Date.now() - disabled) / 1000} s\n`)
  await changeKey(server, key, { disabled: false })
  const renewed = await tokenFor(key, first as Cluster)
  expect([(await first?.call(renewed, list))?.status, (await first?.call(tokens[0] ?? '', list))?.status]).toEqual([
    200, 401,
  ])
})

test('a token that is presented at oauth2/revoke is refused within 15 seconds, and those of other clusters work', async () => {
  const key = await makeKey(server, { user: 'alice' })
  const [one, two] = clusters as [Cluster, Cluster, Cluster]
  const [token, other] = [await tokenFor(key, one), await tokenFor(key, two)]
  expect((await one.call(token, list)).status).toBe(200)
  const revoked = Date.now()
  const body = new URLSearchParams({ token }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  const answer = await server.call('/oauth2/revoke', { method: 'POST', token: '', body, headers })
  expect([answer.status, answer.json]).toEqual([200, { revoked: true }])
  await vi.waitFor(async () => expect((await one.call(token, list)).status).toBe(401), {
    timeout: 60_000,
    interval: 250,
  })
  process.stdout.write(`refused after ${(Date.now() - revoked) / 1000} s\n`)
  expect((await two.call(other, list)).status).toBe(200)
  expect((await one.call(await tokenFor(key, one), list)).status).toBe(200)
})

// threat: exchange-39
test('the account of keyplane can read no Secret, and issue no token of itself', async () => {
  const [one] = clusters
  const call = async (path: string, body?: object) => (await one?.call(one.own, path, body))?.status
  expect(await call('/api/v1/namespaces/keyplane/secrets')).toBe(403)
  expect(await call('/api/v1/namespaces/keyplane-system/secrets/keyplane')).toBe(403)
  expect(await call('/api/v1/namespaces/keyplane/serviceaccounts')).toBe(403)
  const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  expect(await call('/api/v1/namespaces/keyplane-system/serviceaccounts/keyplane/token', token)).toBe(403)
  expect(await call('/api/v1/namespaces/default/serviceaccounts/default/token', token)).toBe(403)
})

test('an account that does not exist is a 422, and its Secret is gone', async () => {
  const key = await makeKey(server, { user: 'alice', groups: [] })
  const [one] = clusters
  const path = '/api/v1/namespaces/keyplane/serviceaccounts/user.alice'
  await one?.admin.send('DELETE', `${one.url}${path}`)
  const body = { apiVersion: 'management.platform/v1', kind: 'ClusterKubeConfig', metadata: { name: 'one' }, spec: {} }
  const { status, json } = await server.post(`${management}/clusters/one/kubeconfig`, body, key.value)
  expect([status, json.message]).toEqual([
    422,
    expect.stringContaining('kubectl create serviceaccount user.alice -n keyplane'),
  ])
  if (!one) throw new Error('no cluster')
  const { body: found } = await one.admin.send('GET', `${one.url}/api/v1/namespaces/keyplane/secrets`)
  expect(JSON.stringify(found)).not.toContain(key.uid)
})

// The cluster asks nobody: what the account may do decides.
// threat: cli-8
test('keyplane run --read-only works for kubectl and an MCP server in a cluster without flags', async () => {
  const [one] = clusters as [Cluster]
  const core = `${one.url}/api/v1/namespaces`
  const post = async (path: string, object: object) =>
    expect((await one.admin.send('POST', path, object)).status).toBe(201)
  const named = (kind: string, name: string, more: object = {}) => ({ kind, metadata: { name }, ...more })
  await post(`${core}/keyplane/serviceaccounts`, { apiVersion: 'v1', ...named('ServiceAccount', 'user.alice.view') })
  await post(`${core}/default/secrets`, { apiVersion: 'v1', ...named('Secret', 'password') })
  const rbac = 'rbac.authorization.k8s.io'
  // As ClusterRole view, which a controller fills elsewhere.
  const rules = [{ apiGroups: [''], resources: ['pods', 'pods/log', 'configmaps'], verbs: ['get', 'list', 'watch'] }]
  const ofRbac = `${one.url}/apis/${rbac}/v1`
  await post(`${ofRbac}/clusterroles`, { apiVersion: `${rbac}/v1`, ...named('ClusterRole', 'readers', { rules }) })
  const subjects = [{ kind: 'ServiceAccount', name: 'user.alice.view', namespace: 'keyplane' }]
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'readers' }
  const binding = named('ClusterRoleBinding', 'readers', { roleRef, subjects })
  await post(`${ofRbac}/clusterrolebindings`, { apiVersion: `${rbac}/v1`, ...binding })

  const alice = await makeKey(server, { user: 'alice' })
  const cli = await createCommandLine(server, alice.value)
  const readOnly = ['run', '--cluster', one.name, '--read-only', '--for', '15m', '--']
  const kubectl = (...args: string[]) =>
    cli.spawn([...readOnly, join(process.env.KUBEBUILDER_ASSETS ?? '', 'kubectl'), ...args])
  expect(await kubectl('get', 'pods', '-n', 'default')).toMatchObject({ code: 0 })
  for (const args of [
    ['get', 'secrets', '-n', 'default'],
    ['get', '--raw', '/api/v1/nodes/n/proxy/pods'],
    ['exec', 'web-0', '-n', 'default', '--', 'id'],
    ['create', 'configmap', 'new', '-n', 'default'],
    ['create', 'token', 'user.alice', '-n', 'keyplane'],
  ]) {
    const { code, stderr } = await kubectl(...args)
    expect([args, code, stderr]).toEqual([args, 1, expect.stringMatching(/forbidden|not found/i)])
  }
  const program = await installMcpServer(one.folder)
  const running = await cli.start([...readOnly, program])
  const tool = await mcpTools(running)
  expect(await tool('pods_list_in_namespace', { namespace: 'default' })).toMatchObject({ isError: false })
  expect(await tool('resources_list', { apiVersion: 'v1', kind: 'Secret', namespace: 'default' })).toEqual({
    isError: true,
    text: expect.stringMatching(/forbidden/i),
  })
  running.child.stdin.end()
  await running.ended
  await cli.stop()
})
