/**
 * Tests `keyplane run` on a real kube-apiserver that asks this API: what a key that only reads can do there, what an MCP server for
 * Kubernetes does with it, and whether the report is what the audit log of the cluster says.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type CommandLine, createCommandLine } from '../clients/cli/commandline.ts'
import { createKubectl } from '../support/kubectl.ts'
import { patience } from '../support/patience.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { changeKey, clusters, directToken, type Key, makeKey, management } from './keys.ts'
import { installMcpServer, mcpTools } from './mcpserver.ts'
import { chooseAddress, type Plane, startPlane } from './planes.ts'

let server: TestServer
let plane: Plane
let alice: Key
let cli: CommandLine
let folder: string
const auditLog = () => join(folder, 'audit.log')

const create = (path: string, body: object) => plane.call(path, plane.certificate, { method: 'POST', body })
const core = '/api/v1/namespaces'
const named = (kind: string, name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-sessions-'))
  const policy = join(folder, 'audit.yaml')
  await writeFile(
    policy,
    JSON.stringify({
      ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy' },
      ...{ omitStages: ['RequestReceived'], rules: [{ level: 'Metadata' }] },
    }),
  )
  server = await startServer()
  const agent = await makeKey(server, { user: 'agent', scope: { roles: [{ role: 'agent' }], ...clusters('eu') } })
  plane = await startPlane(server, await chooseAddress(), {
    place: 'clusters/eu',
    accessKey: agent.value,
    signs: false,
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog()}`],
  })
  const { certificate } = plane.authority
  await server.make(`${management}/clusters`, {
    ...{ apiVersion: 'management.platform/v1', kind: 'Cluster', metadata: { name: 'eu' } },
    spec: {
      server: plane.url,
      certificateAuthorityData: Buffer.from(certificate).toString('base64'),
      access: [{ verbs: ['use'], users: ['alice'] }],
    },
  })
  const binding = {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'dev' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'dev' }],
  }
  await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding)
  await create(core, named('Namespace', 'web'))
  await create(`${core}/web/serviceaccounts`, named('ServiceAccount', 'default'))
  await create(`${core}/web/secrets`, named('Secret', 'password'))
  const pod = { spec: { automountServiceAccountToken: false, nodeName: 'n', containers: [{ name: 'a', image: 'a' }] } }
  expect((await create(`${core}/web/pods`, named('Pod', 'web-0', pod))).status).toBe(201)
  await plane.call(`${core}/web/pods/web-0/status`, plane.certificate, {
    method: 'PUT',
    body: named('Pod', 'web-0', { metadata: { name: 'web-0' }, ...pod, status: { phase: 'Running' } }),
  })
  alice = await makeKey(server, { user: 'alice', groups: ['dev'] })
  cli = await createCommandLine(server, alice.value)
  // kube-apiserver fetches the public keys in the background.
  const token = await directToken(server, alice)
  await vi.waitFor(async () => expect((await plane.call(core, { token })).status).toBe(200), {
    ...patience,
    interval: 500,
  })
})
afterAll(async () => {
  await cli?.stop()
  await plane?.stop()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Asks the cluster nothing before the command. */
const READ_PODS = [
  ...['run', '--cluster', 'eu', '--for', '10m', '--rule'],
  JSON.stringify({ verbs: ['get'], resources: [{ group: '', resources: ['pods'] }] }),
]
const READ_ONLY = ['run', '--cluster', 'eu', '--read-only', '--for', '10m']

/** Begins a command that has a key, and keeps a copy of its kube config. */
async function begin() {
  const copy = join(cli.home, `copy-${Math.random()}`)
  const running = await cli.start([
    ...READ_ONLY,
    '--',
    'sh',
    '-c',
    `cp "$KUBECONFIG" "${copy}"; echo ready >&2; read -r _`,
  ])
  await running.until(/^ready$/m)
  const config = await readFile(copy, 'utf8')
  const kubectl = await createKubectl(config)
  return {
    running,
    kubectl,
    name: /^Key (\S+): /m.exec(running.said.stderr)?.[1] ?? '',
    token: (load(config) as { users: { user: { token: string } }[] }).users[0]?.user.token ?? '',
    async end() {
      running.child.stdin.end('\n')
      await kubectl.stop()
      return (await running.ended).stderr
    },
  }
}

/** Sends what a browser or kubectl sends to begin a WebSocket, and returns the code of the answer. */
const upgrade = (path: string, token: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = {
      ...{ authorization: `Bearer ${token}`, connection: 'Upgrade', upgrade: 'websocket' },
      ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      'sec-websocket-protocol': 'v5.channel.k8s.io',
    }
    https
      .request(`${plane.url}${path}`, { ca: plane.authority.certificate, headers, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      .on('upgrade', (response, socket) => {
        socket.destroy()
        resolve(response.statusCode)
      })
      .on('error', reject)
      .end()
  })

/** Returns the lines of a report for what the audit log has of a key: what was allowed, and what was forbidden. */
async function auditLines(name: string): Promise<{ done: string[]; refused: string[] }> {
  const events = (await readFile(auditLog(), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const own = events.filter(({ user }) => user.extra?.['management.platform/run']?.[0] === `key ${name}`)
  const lines = (some: typeof own) => {
    const verbs = new Map<string, Set<string>>()
    for (const { verb, objectRef, requestURI } of some) {
      const { resource, subresource, namespace, name: object } = objectRef ?? {}
      const path = resource === undefined ? `path "${requestURI}"` : undefined
      // What every scope allows.
      if (
        /^(self|customresourcedefinitions$)/.test(resource ?? '') ||
        /^path "\/(apis?(\/|\?|"|$)|version|openapi)/.test(path ?? '')
      )
        continue
      const ofNamespace = resource === 'namespaces' && object ? ` "${object}" in namespace "${object}"` : ''
      const where = ofNamespace || (namespace ? ` in namespace "${namespace}"` : '')
      const subject = path ?? `${resource}${subresource ? `/${subresource}` : ''}${where}`
      verbs.set(subject, (verbs.get(subject) ?? new Set()).add(verb))
    }
    return [...verbs].map(([subject, all]) => `${[...all].sort().join(', ')} ${subject}`).sort()
  }
  const isForbidden = ({ responseStatus }: { responseStatus: { code: number } }) => responseStatus.code === 403
  return { done: lines(own.filter((one) => !isForbidden(one))), refused: lines(own.filter(isForbidden)) }
}

/** Returns what a report says about the cluster. */
function reportLines(report: string): { done: string[]; refused: string[] } {
  const [done = '', refused = ''] = (/ has ended\. In .*:\n([\s\S]*)/.exec(report)?.[1] ?? '').split(
    /^Refused, or asked about with can-i:$/m,
  )
  const lines = (text: string) =>
    [...text.matchAll(/^ {2}(.*)$/gm)]
      .map(([, line = '']) => line)
      .filter((line) => !line.includes('clusters/kubeconfig'))
      .sort()
  return { done: lines(done), refused: lines(refused) }
}

// threat: cli-8
test('a key that only reads acts by no means, and the report is what the audit log says', async () => {
  const { kubectl, name, token, running, end } = await begin()
  expect(running.said.stderr).toContain('read-only in cluster eu, without Secrets; ends in 10m')
  const in_ = ['-n', 'web']
  const allowed: string[][] = [
    ['get', 'pods', ...in_],
    ['get', 'pod', 'web-0', ...in_],
    ['get', 'pods', '-A'],
    ['get', 'configmaps,services,deployments.apps', ...in_],
    ['get', 'namespaces'],
    ['get', 'namespace', 'web'],
    ['get', 'clusterroles', 'view'],
    ['get', 'crds'],
    ['get', '--raw', '/api/v1/namespaces/web/pods/web-0/status'],
  ]
  for (const args of allowed)
    expect([args, await kubectl.run(...args)]).toEqual([args, expect.objectContaining({ code: 0 })])
  const refused: string[][] = [
    ['exec', 'web-0', ...in_, '--', 'id'],
    ['attach', 'web-0', ...in_],
    ['port-forward', 'pod/web-0', '8080:80', ...in_],
    ['cp', 'web-0:/etc/passwd', 'x', ...in_],
    ['get', '--raw', '/api/v1/namespaces/web/pods/web-0/proxy/'],
    ['get', '--raw', '/api/v1/namespaces/web/services/web/proxy/'],
    ['get', '--raw', '/api/v1/nodes/n/proxy/pods'],
    ['get', '--raw', '/metrics'],
    ['get', '--raw', '/logs/'],
    ['get', 'secrets', ...in_],
    ['get', 'secret', 'password', ...in_],
    ['get', 'secrets', '-A', '--watch'],
    ['delete', 'pod', 'web-0', ...in_],
    ['label', 'pod', 'web-0', 'a=b', ...in_],
    ['create', 'configmap', 'new', ...in_],
    ['create', 'token', 'default', ...in_],
    [
      'auth',
      'reconcile',
      '-f',
      await kubectl.file('role.json', {
        ...named('ClusterRole', 'x'),
        apiVersion: 'rbac.authorization.k8s.io/v1',
        rules: [],
      }),
    ],
  ]
  for (const args of refused) {
    const { code, stderr } = await kubectl.run(...args)
    expect([args, code, stderr]).toEqual([args, 1, expect.stringMatching(/forbidden/i)])
  }
  const acting = ['exec?command=id&stdout=true', 'attach?stdout=true', 'portforward?ports=80', 'proxy/']
  for (const one of acting) expect([one, await upgrade(`${core}/web/pods/web-0/${one}`, token)]).toEqual([one, 403])
  const log = await plane.call(`${core}/web/pods/web-0/log`, { token })
  // Its scope allows it; there is no kubelet.
  expect(log.status).not.toBe(403)

  const report = await end()
  expect(reportLines(report)).toEqual(await auditLines(name))
  expect(report).toMatch(/Refused, or asked[\s\S]* pods\/exec in namespace "web"/)
  await vi.waitFor(async () => expect((await plane.call(`${core}/web/pods`, { token })).status).not.toBe(200), {
    ...patience,
    interval: 500,
  })
})

// threat: cli-8
test('an MCP server for Kubernetes works with the key, and neither its tools nor its kube config write', async () => {
  const running = await cli.start([...READ_ONLY, '--', await installMcpServer(folder)])
  const tool = await mcpTools(running)
  expect(await tool('pods_list_in_namespace', { namespace: 'web' })).toEqual({
    isError: false,
    text: expect.stringContaining('web-0'),
  })
  const manifest = JSON.stringify({ ...named('ConfigMap', 'mcp'), metadata: { name: 'mcp', namespace: 'web' } })
  const attacks: [string, object][] = [
    ['pods_delete', { name: 'web-0', namespace: 'web' }],
    ['pods_exec', { name: 'web-0', namespace: 'web', command: ['id'] }],
    ['resources_create_or_update', { resource: manifest }],
    ['resources_list', { apiVersion: 'v1', kind: 'Secret', namespace: 'web' }],
  ]
  for (const [name, args] of attacks)
    expect([name, await tool(name, args)]).toEqual([name, { isError: true, text: expect.stringMatching(/forbidden/i) }])
  // What its users report: the kube config of a server that only reads is exported, and written with.
  const { text } = await tool('configuration_view', { minified: true })
  const exported = JSON.parse(text).content[0].text as string
  const kubectl = await createKubectl(load(exported.slice(exported.indexOf('apiVersion:'))) as object)
  expect(await kubectl.run('delete', 'pod', 'web-0', '-n', 'web')).toMatchObject({ code: 1 })
  expect(exported).not.toContain(alice.value)
  await kubectl.stop()
  running.child.stdin.end()
  const { stderr } = await running.ended
  expect(stderr).toMatch(/Refused, or asked[\s\S]* delete pods in namespace "web"/)
  expect((await plane.call(`${core}/web/pods/web-0`, plane.certificate)).status).toBe(200)
})

test('fifty at once each have a key of their own, and leave none', async () => {
  const own = await makeKey(server, { user: 'alice', groups: ['dev'] })
  const runs = await Promise.all(
    Array.from({ length: 50 }, () => cli.run([...READ_PODS, '--', 'true'], { env: { KEYPLANE_KEY: own.value } })),
  )
  expect(runs.filter(({ code }) => code !== 0)).toEqual([])
  expect(runs.map(({ code, stderr }) => [code, /^(\S+) has ended\./m.test(stderr)])).toEqual(runs.map(() => [0, true]))
  expect(new Set(runs.map(({ stderr }) => /^Key (\S+):/m.exec(stderr)?.[1])).size).toBe(50)
  const { items } = (await server.call(`${management}/ownedaccesskeys?labelSelector=keyplane/session`)).json
  expect(items).toEqual([])
})

test('a key that ends meanwhile ends what its command does, and the command goes on', async () => {
  const { name, token, kubectl, end } = await begin()
  expect(await kubectl.run('get', 'pods', '-n', 'web')).toMatchObject({ code: 0 })
  const asRoot = await kubectl.run('get', 'pods', '-n', 'web', '--as', 'root')
  expect(asRoot).toMatchObject({ code: 1, stderr: expect.stringMatching(/forbidden/i) })
  const { uid } = (await server.call(`${management}/ownedaccesskeys/${name}`)).json.metadata
  await changeKey(server, { name, uid, value: '' }, { disabled: true })
  await vi.waitFor(async () => expect((await plane.call(`${core}/web/pods`, { token })).status).not.toBe(200), {
    ...patience,
    interval: 500,
  })
  expect(await end()).toMatch(new RegExp(`^${name} has ended\\.`, 'm'))
})
