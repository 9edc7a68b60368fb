/**
 * Runs the commands of the pages that add a first virtual cluster and a first connected cluster, with real kube-apiservers,
 * the AWS command line and kubectl.
 */

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { clusterFlags } from '../../lib/clusters/connect/clusterfiles.ts'
import { installCommandLine } from '../clients/cli/commandline.ts'
import { installed } from '../deploy/emulator.ts'
import { type Aws, credentials, startAws } from '../support/aws.ts'
import { readPage } from '../support/commands.ts'
import { kubeConfig } from '../support/kubectl.ts'
import { patience } from '../support/patience.ts'
import { type Ran, runProgram } from '../support/programs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type Address, chooseAddress } from './planes.ts'

const root = join(import.meta.dirname, '../..')
const assets = process.env.KUBEBUILDER_ASSETS ?? ''

let server: TestServer
let secretsManager: Aws
let folder: string
let environment: Record<string, string | undefined>
const planes: ControlPlane[] = []

/** Runs commands in the project folder, as the pages say, with their files in another folder. */
function shell(...commands: string[]): Promise<Ran> {
  const npm = `npm() { (cd ${root} && command npm "$@"); }`
  return runProgram('bash', ['-euo', 'pipefail', '-c', [npm, ...commands].join('\n')], {
    cwd: folder,
    env: environment,
  })
}

/** Aggregates the rules of `edit` and `view`, like the controller that these control planes do not run. */
async function fillClusterRoles({ admin, url }: ControlPlane): Promise<void> {
  const roles = `${url}/apis/rbac.authorization.k8s.io/v1/clusterroles`
  const read = async (name: string) => (await admin.send('GET', `${roles}/${name}`)).body as { rules: object[] | null }
  const [toView, toEdit] = [await read('system:aggregate-to-view'), await read('system:aggregate-to-edit')]
  for (const [name, parts] of Object.entries({ view: [toView], edit: [toView, toEdit] })) {
    const rules = parts.flatMap((part) => part.rules ?? [])
    const { status } = await admin.send('PUT', `${roles}/${name}`, { ...(await read(name)), rules })
    expect(status).toBe(200)
  }
}

/** Starts a cluster whose only settings for keyplane are `flags`, and returns a kube config of its administrator. */
async function startCluster(name: string, address: Address, flags: readonly string[] = []): Promise<string> {
  const { port, authority, url } = address
  const plane = await startControlPlane({
    assets,
    folder: join(folder, name),
    port,
    authority,
    users: [],
    flags,
    now: Date.now,
  })
  planes.push(plane)
  await fillClusterRoles(plane)
  const file = join(folder, `${name}.admin.kubeconfig`)
  const certificateAuthority = authority.certificate
  await writeFile(file, kubeConfigFile({ name, server: url, certificateAuthority, token: plane.adminToken }))
  return file
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-first-'))
  const [aws, started] = await Promise.all([installed('aws'), startServer()])
  server = started
  // What the commands store there is stored for the server.
  secretsManager = await startAws((name, text) => void server.services.setSecret(name, text))
  const authority = join(folder, 'api-ca.crt')
  await writeFile(authority, server.certificateAuthority)
  const administrator = join(folder, 'administrator.kubeconfig')
  await writeFile(administrator, JSON.stringify(kubeConfig(server.base, server.certificateAuthority, server.adminKey)))
  environment = {
    PATH: [dirname(await installCommandLine(folder)), aws, assets, process.env.PATH].join(delimiter),
    HOME: folder,
    KUBECONFIG: administrator,
    CURL_CA_BUNDLE: authority,
    KEYPLANE_URL: server.base,
    KEYPLANE_KEY: server.adminKey,
    KEYPLANE_CA: authority,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager.url,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
})
afterAll(async () => {
  await Promise.all(planes.map((plane) => plane.close()))
  await server?.stop()
  await secretsManager?.stop()
  await rm(folder, { recursive: true, force: true })
})

// threat: people-1
test('the page on the first virtual cluster works as written', async () => {
  const { blocks, commandsOf } = await readPage('docs/first-virtual-cluster.md')
  const admin = await startCluster('virtual', await chooseAddress(), ['--authorization-mode=RBAC'])
  const begin = commandsOf('Your first virtual cluster', 0, {
    'STAGE=prod': 'STAGE=local',
    '$HOME/.kube/dev.kubeconfig': admin,
  })
  const before = [...blocks].filter(([heading]) => heading !== 'Your first virtual cluster')
  const { code, stdout, stderr } = await shell(begin, ...before.flatMap(([, all]) => all))
  expect([code, stderr]).toEqual([0, 'No resources found in default namespace.\n'])
  expect(stdout).toContain('keyplane/local/virtualclusters/p-shop/dev\n')
  expect(stdout).toMatch(/^Username +alice$/m)
  expect((await stat(join(folder, 'alice.kubeconfig'))).mode & 0o777).toBe(0o600)
  const files = await readFile(join(folder, 'keyplane-shop-dev/files.yaml'), 'utf8')
  expect(files).toMatch(/virtualclusters\/p-shop\/dev\/[0-9a-f-]{36}/)
  expect(stdout).not.toContain(server.adminKey)

  const alice = (args: string) => shell(`kubectl --kubeconfig alice.kubeconfig ${args}`)
  expect((await alice('create configmap mine')).stdout).toContain('created')
  expect((await alice('get secrets --all-namespaces')).stderr).toContain('User "alice" cannot list')
})

test('without the secret of a virtual cluster the message says what to do, as the page shows', async () => {
  const { commandsOf } = await readPage('docs/first-virtual-cluster.md')
  await server.make('/apis/management.platform/v1/namespaces/p-shop/virtualclusterinstances', {
    apiVersion: 'management.platform/v1',
    kind: 'VirtualClusterInstance',
    metadata: { name: 'bare' },
    spec: { owner: { user: 'alice' }, accessPoint: { ingress: { enabled: true, host: '127.0.0.1:1' } } },
  })
  const fetched = commandsOf('The kube config', 0, {
    '/dev/kubeconfig': '/bare/kubeconfig',
    'alice.kubeconfig': 'bare.kubeconfig',
  })
  const { code, stderr } = await shell(fetched)
  expect([code, stderr]).toEqual([1, expect.stringContaining('has no stored credentials')])
  expect(await readFile(join(root, 'docs/first-virtual-cluster.md'), 'utf8')).toContain('`has no stored credentials`')
  await expect(stat(join(folder, 'bare.kubeconfig'))).rejects.toThrow('ENOENT')
})

/** Before that, kube-apiserver may not have fetched the public keys. */
const fetched = { ...patience, interval: 500 }

// threat: people-1
test('the page on the first connected cluster works as written', async () => {
  const { commandsOf } = await readPage('docs/first-connected-cluster.md')
  const address = await chooseAddress()
  const admin = join(folder, 'connected.admin.kubeconfig')
  const files = join(folder, 'keyplane-eu')
  const given = {
    '$HOME/.kube/eu.kubeconfig': admin,
    '--for kubeadm': `--for kubeadm --out ${files} --directory ${files}`,
  }
  // The command reads the address, and no credentials.
  const [name, token] = ['connected', 'none']
  const certificateAuthority = address.authority.certificate
  await writeFile(admin, kubeConfigFile({ name, server: address.url, certificateAuthority, token }))
  const connect = commandsOf('Connect it', 0, given)
  const written = await shell(connect)
  expect([written.code, written.stderr]).toEqual([0, expect.stringMatching(/^Warning: only this machine .*\n$/)])
  expect(written.stdout).toMatch(/^done +files .*\ndone +key .*\ndone +object .*\nmissing +check /)
  expect((await stat(join(files, 'keyplane-access-key'))).mode & 0o777).toBe(0o600)
  const flags = clusterFlags({ directory: files })
  for (const flag of flags) expect(written.stdout).toContain(`value: ${flag.split('=')[1]}\n`)

  expect(await startCluster(name, address, flags)).toBe(admin)
  const begin = `CLUSTER=${admin}`
  const people = await shell(begin, commandsOf('What people may do there', 0))
  expect([people.code, people.stderr]).toEqual([0, ''])
  const use = commandsOf('A kube config', 0)
  await expect.poll(() => shell(use), fetched).toMatchObject({ code: 0 })
  const { stdout } = await shell(use)
  expect(stdout).toMatch(/^Username +admin$/m)
  expect(stdout).toContain('platform:admins')
  expect(stdout).toContain('clusters/eu')
  expect(stdout).toMatch(/^kube-system +Active/m)
  expect((await stat(join(folder, 'eu.kubeconfig'))).mode & 0o777).toBe(0o600)
  expect((await shell(connect)).stdout).toMatch(/^done +files .*\ndone +key .*\ndone +object .*\ndone +check .*\n$/)
})
