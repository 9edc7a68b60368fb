/**
 * Tests the recipes of docs/clients.md and of examples/kubeconfig with released versions of kubectl, a real virtual cluster p-demo/demo and a real
 * connected cluster `west`, and renewal by client-go beyond the end of tokens.
 */

import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { deploymentName, entryNameOf } from '../../lib/clusters/deployment.ts'
import { installCommandLine } from '../clients/cli/commandline.ts'
import { readPage } from '../support/commands.ts'
import { objectsIn, readExample } from '../support/examples.ts'
import { mountPod, startPlatform } from '../support/federationpages.ts'
import { createKubectl } from '../support/kubectl.ts'
import { instance, instances } from '../support/objects.ts'
import { patience } from '../support/patience.ts'
import { type Ran, runProgram } from '../support/programs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { changeKey, clusters, type Key, makeKey, management } from './keys.ts'
import { describeKubectls, findKubectls } from './kubectls.ts'
import { chooseAddress, type Plane, startPlane } from './planes.ts'

/** The minor version of kubectl from which on kuberc has policies for plugins. */
const POLICIES_SINCE = 35
const page = await readPage('docs/clients.md')
const { releases, remove } = await findKubectls()
const newest = releases.findLast(({ path }) => path !== undefined)?.path ?? ''

let server: TestServer
/** The virtual cluster and the connected cluster. */
let demo: Plane
let west: Plane
let alice: Key
let folder: string
/** The folder of `keyplane`. */
let plugin: string

/** The caches of the clusters: 3 s for access, 10 s for tokens. Machines may be slow. */
const soon = { ...patience, interval: 500 }

async function startDemo(): Promise<void> {
  const address = await chooseAddress()
  const { url, port, authority, tokens } = address
  const made = await server.make(
    instances('p-demo'),
    instance('demo', { owner: { user: 'alice' }, accessPoint: { ingress: { host: `127.0.0.1:${port}` } } }),
  )
  const { certificate: certificateAuthority } = authority
  const kept = kubeConfigFile({ name: 'demo', server: url, certificateAuthority, token: tokens.manager })
  await server.keepCredentials('p-demo/demo', kept)
  const scope = { roles: [{ role: 'vcluster', virtualClusters: ['demo/demo'] }] }
  const { value } = await makeKey(server, { user: 'vcluster-demo', scope })
  const place = `virtualclusters/p-demo/demo/${made.metadata.uid}`
  demo = await startPlane(server, address, { place, accessKey: value })
}

async function startWest(): Promise<void> {
  const scope = { roles: [{ role: 'agent' }], ...clusters('west') }
  const { value } = await makeKey(server, { user: 'agent-west', scope })
  const place = 'clusters/west'
  west = await startPlane(server, await chooseAddress(), { place, accessKey: value, signs: false })
  await server.make(`${management}/clusters`, {
    apiVersion: 'management.platform/v1',
    kind: 'Cluster',
    metadata: { name: 'west' },
    spec: {
      server: west.url,
      certificateAuthorityData: Buffer.from(west.authority.certificate).toString('base64'),
      access: [{ verbs: ['get', 'use'], users: ['alice'] }],
    },
  })
}

beforeAll(async () => {
  server = await startServer()
  folder = await mkdtemp(join(tmpdir(), 'keyplane-renewal-'))
  await writeFile(join(folder, 'ca.crt'), server.certificateAuthority)
  plugin = dirname(await installCommandLine(folder))
  await Promise.all([startDemo(), startWest()])
  await writeFile(join(folder, 'west-ca.crt'), west.authority.certificate)
  alice = await makeKey(server, { user: 'alice' })
  // kube-apiserver fetches the public keys in the background.
  const { run, home } = await makeHome('first')
  await run(`${curlWay}${await connected()}`)
  for (const name of ['demo', 'west'])
    await vi.waitFor(async () => {
      expect(await run(`kubectl --kubeconfig ${home}/.kube/${name} get pods`)).toMatchObject({ code: 0 })
    }, soon)
})
afterAll(async () => {
  await Promise.all([demo?.stop(), west?.stop()])
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
  await remove()
})

/** Returns the commands for the connected cluster, with tokens that live as many seconds. */
const connected = (seconds = 900): Promise<string> =>
  readExample('kubeconfig/connected-cluster.sh', {
    'https://west.example.com': west.url,
    ' west-ca.crt': ` ${join(folder, 'west-ca.crt')}`,
    ' 900,': ` ${seconds},`,
  })

/** Makes a home folder, and a function that runs commands in it with a version of kubectl. */
async function makeHome(name: string, { path = newest, key = alice } = {}) {
  const home = join(folder, name)
  await mkdir(join(home, '.kube'), { recursive: true })
  const env = {
    HOME: home,
    PATH: [dirname(path), plugin, process.env.PATH].join(delimiter),
    KEYPLANE: server.base,
    KEY: key.value,
    CURL_CA_BUNDLE: join(folder, 'ca.crt'),
  }
  const run = (script: string): Promise<Ran> =>
    runProgram('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: home, env })
  return { home, env, run, file: (one: string) => join(home, '.kube', one) }
}

const none = { code: 0, stdout: '', stderr: 'No resources found in default namespace.\n' }
const curlWay = await readExample('kubeconfig/curl.sh')
const fileWay = await readExample('kubeconfig/token-file.sh')

describeKubectls(releases, ({ version, path }) => {
  const makeOwnHome = (name: string, key?: Key) => makeHome(`${version}-${name}`, { path, ...(key && { key }) })

  test('gets tokens for a virtual cluster, with curl as the plugin', async () => {
    const { run } = await makeOwnHome('curl')
    expect((await run('kubectl version --client')).stdout).toContain(version)
    expect(await run(curlWay)).toEqual(none)
  })

  test('gets client certificates from a virtual cluster, with curl as the plugin', async () => {
    const { run } = await makeOwnHome('certificate')
    await run(curlWay.replace('{\\"certificateTTL\\"', '{\\"clientCert\\": true, \\"certificateTTL\\"'))
    const ran = await run('kubectl --kubeconfig ~/.kube/demo auth whoami -o jsonpath={.status.userInfo.username}')
    expect(ran).toEqual({ code: 0, stdout: 'alice', stderr: '' })
    expect((await run('curl -q --config ~/.kube/demo.curl')).stdout).toContain('BEGIN CERTIFICATE')
  })

  test('gets direct tokens for a connected cluster, with curl as the plugin', async () => {
    const { run } = await makeOwnHome('direct')
    expect(await run(await connected())).toEqual(none)
  })

  test('gets tokens for both clusters, with keyplane as the plugin', async () => {
    const { run } = await makeOwnHome('keyplane')
    const login = page.commandsOf('keyplane as the plugin', 0, {
      'https://keys.example.com/prod/kubernetes/management': `${server.base} --ca ${join(folder, 'ca.crt')}`,
      '@keys.example.com/prod': `@${deploymentName(server.base)}`,
    })
    const add = page.commandsOf('keyplane as the plugin', 1, {
      '@keys.example.com/prod': `@${deploymentName(server.base)}`,
    })
    for (const commands of [`export KEYPLANE_KEY=$KEY\n${login}`, add])
      expect(await run(commands)).toEqual({ ...none, stderr: expect.stringContaining(none.stderr) })
    for (const context of ['demo.p-demo', 'west'])
      expect(await run(`kubectl --context ${entryNameOf(context, server.base)} get pods`)).toEqual(none)
  })

  test('exchanges the token of a pod, with curl as the plugin', async () => {
    const [provider, trust] = await objectsIn('kubernetes/trust.yaml')
    const [config] = await objectsIn('kubernetes/pod.yaml')
    const platform = await startPlatform(server, [provider, trust], 'kubernetes.pod')
    const { run, home } = await makeOwnHome('exchange')
    const data = { curl: platform.here(config.data.curl), kubeconfig: platform.here(config.data.kubeconfig) }
    await mountPod(data, { folder: home, token: platform.idToken(), authority: join(folder, 'ca.crt') })
    const ran = await run('kubectl --kubeconfig kubeconfig auth whoami')
    expect(ran).toEqual({ code: 0, stdout: expect.stringContaining('team:shop'), stderr: '' })
    await platform.stop()
  })

  test('reads a token file', async () => {
    const { run } = await makeOwnHome('file')
    const { code, stderr } = await run(`${curlWay}${fileWay}kubectl --kubeconfig ~/.kube/demo get pods`)
    expect([code, stderr]).toEqual([0, none.stderr.repeat(2)])
  })

  test('uses a static token', async () => {
    const { run } = await makeOwnHome('static')
    expect(await run(await readExample('kubeconfig/static-token.sh'))).toEqual(none)
  })

  test('says why the plugin got no token with a revoked key', async () => {
    const key = await makeKey(server, { user: 'alice' })
    const { run } = await makeOwnHome('revoked', key)
    await run(`${curlWay}${await connected()}`)
    await changeKey(server, key, { disabled: true })
    for (const name of ['demo', 'west']) {
      const { code, stderr } = await run(`kubectl --kubeconfig ~/.kube/${name} get pods`)
      expect([code, stderr]).toEqual([1, expect.stringContaining('299 - "access key is disabled"')])
      expect(stderr).toContain('getting credentials: exec: executable curl failed with exit code 22')
    }
  })

  if (Number(version.split('.')[1]) < POLICIES_SINCE) return
  test('obeys the policies of kuberc, and a token file needs none', async () => {
    const { run, file } = await makeOwnHome('kuberc')
    await run(curlWay)
    const [forbidding] = await objectsIn('kubeconfig/kuberc-none.yaml')
    const [allowing] = await objectsIn('kubeconfig/kuberc-listed.yaml')
    const underPolicy = async (policy: object) => {
      await writeFile(file('kuberc'), JSON.stringify(policy))
      return run('kubectl --kubeconfig ~/.kube/demo get pods')
    }
    const denied = await underPolicy(forbidding)
    expect([denied.code, denied.stderr]).toEqual([1, expect.stringContaining('plugin "curl" not allowed')])
    expect(await underPolicy(allowing)).toEqual(none)
    await run(fileWay)
    expect(await underPolicy(forbidding)).toEqual(none)
  })
})

describe('a process of client-go that outlives its tokens', () => {
  /** Starts kubectl with a kube config of a home. */
  async function start(home: Awaited<ReturnType<typeof makeHome>>, name: string, ...args: string[]) {
    await appendFile(home.file(`${name}.curl`), `cacert = "${join(folder, 'ca.crt')}"\n`)
    const kubectl = await createKubectl(await readFile(home.file(name), 'utf8'))
    return { ...kubectl.start(...args), stop: kubectl.stop }
  }
  /** Returns a function that lists pods through `kubectl proxy`, and one that ends it. */
  async function startProxy(home: Awaited<ReturnType<typeof makeHome>>, name: string) {
    const proxy = await start(home, name, 'proxy', '--port=0')
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(await proxy.until(/Starting to serve on .*\n/)) ?? []
    const list = async () => (await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/default/pods`)).status
    return { ...proxy, list }
  }
  /** Returns a new token of the plugin. */
  async function tokenOf({ run }: Awaited<ReturnType<typeof makeHome>>, name: string): Promise<string> {
    return JSON.parse((await run(`curl -q --config ~/.kube/${name}.curl`)).stdout).status.token
  }
  const statusWith = async (token: string) => (await west.call('/api/v1/namespaces', { token })).status
  const tokensOf = ({ name }: Key): number =>
    server.log
      .map((line) => JSON.parse(line))
      .filter(({ message, key, credential }) => message === 'audit' && key === name && credential === 'token').length

  test('asks the plugin again when the token expires', async () => {
    const key = await makeKey(server, { user: 'alice' })
    const home = await makeHome('expiry', { key })
    await home.run(await connected(3))
    const proxy = await startProxy(home, 'west')
    const answers = new Set<number>()
    await vi.waitFor(async () => {
      answers.add(await proxy.list())
      expect(tokensOf(key)).toBeGreaterThan(8)
    }, soon)
    expect(answers).toEqual(new Set([200]))
    await proxy.stop()
  })

  test('keeps its watch beyond the end of the token with which it began', async () => {
    const home = await makeHome('watch')
    await home.run(await connected(3))
    const watch = await start(home, 'west', 'get', 'namespaces', '-w', '-o', 'name')
    await watch.until(/namespace\/default\n/)
    // This token was issued after that of the watch.
    const token = await tokenOf(home, 'west')
    await vi.waitFor(async () => expect(await statusWith(token)).toBe(401), soon)
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } }
    await west.call('/api/v1/namespaces', west.certificate, { method: 'POST', body })
    await watch.until(/namespace\/later\n/)
    await watch.stop()
  })

  test('stops at a revocation, and says why', async () => {
    const key = await makeKey(server, { user: 'alice' })
    const home = await makeHome('revocation', { key })
    await home.run(await connected(3))
    const proxy = await startProxy(home, 'west')
    expect(await proxy.list()).toBe(200)
    await changeKey(server, key, { disabled: true })
    await vi.waitFor(async () => expect(await proxy.list()).toBe(500), soon)
    await proxy.until(/299 - "access key is disabled"\n/)
    await proxy.stop()
  })

  test('reads a renewed token file within a minute', async () => {
    const home = await makeHome('renewed')
    const [script] = fileWay.split(/^~/m, 1)
    expect(await home.run(`${await connected(62)}${script}~/.kube/renew ~/.kube/west`)).toMatchObject({ code: 0 })
    const { stdout } = await home.run('kubectl --kubeconfig ~/.kube/west config view --raw -o json')
    const config = JSON.parse(stdout)
    config.users[0].user = { tokenFile: home.file('west.token') }
    await writeFile(home.file('west'), JSON.stringify(config))
    const answers = new Set<number>()
    const first = await readFile(home.file('west.token'), 'utf8')
    const proxy = await startProxy(home, 'west')
    await vi.waitFor(
      async () => {
        expect(await home.run('~/.kube/renew ~/.kube/west')).toMatchObject({ code: 0 })
        answers.add(await proxy.list())
        expect(await statusWith(first)).toBe(401)
      },
      { ...patience, interval: 4000 },
    )
    expect([...answers, await proxy.list()]).toEqual([200, 200])
    await proxy.stop()
  })
})
