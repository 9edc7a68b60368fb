/** Tests exchanges of tokens that a real kube-apiserver signs, with `npm start` and the commands of docs/workloads.md. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { freePort } from '../../infra/local/host/freeport.ts'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { readPage } from '../support/commands.ts'
import { objectsIn } from '../support/examples.ts'
import { type Block, mountPod } from '../support/federationpages.ts'
import { type Ran, runProgram } from '../support/programs.ts'

const main = join(import.meta.dirname, '../../infra/local/main.ts')
const assets = process.env.KUBEBUILDER_ASSETS ?? ''
const { commandsOf } = await readPage('docs/workloads.md')
const ci = await readPage('docs/ci.md')
const [provider, trust] = await objectsIn('kubernetes/trust.yaml')
const [config] = await objectsIn('kubernetes/pod.yaml')

let folder: string
let api: ChildProcess
let base: string
let plane: ControlPlane
/** Starts the cluster, with a new key for service accounts and the objects that it had. */
let startCluster: () => Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-exchanges-'))
  const [port, authority] = [await freePort(), await makeAuthority('cluster', validFor(1, Date.now()))]
  startCluster = async () => {
    const flags = ['--authorization-mode=RBAC']
    const options = { assets, folder: join(folder, 'cluster'), port, authority, users: [], flags, signs: false }
    plane = await startControlPlane({ ...options, now: Date.now })
    const admin = { name: 'cluster', server: plane.url, certificateAuthority: authority.certificate }
    await writeFile(join(folder, 'cluster.config'), kubeConfigFile({ ...admin, token: plane.adminToken }))
  }
  const [started] = await Promise.all([startApi(), startCluster()])
  base = started
  await inCluster('kubectl create namespace shop && kubectl create serviceaccount operator -n shop')
  await inCluster('kubectl create namespace attacker && kubectl create serviceaccount operator -n attacker')
})
afterAll(async () => {
  await plane?.close()
  if (api?.exitCode === null && api.kill('SIGTERM')) await once(api, 'exit')
  await rm(folder, { recursive: true, force: true })
})

/** Starts the API and returns its URL. */
async function startApi(): Promise<string> {
  api = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, HOME: folder, PORT: '0', DATA_DIR: join(folder, 'api') },
  })
  let printed = ''
  return new Promise((resolve, reject) => {
    api.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
      const [, url] = /^keyplane serves (\S+)$/m.exec(printed) ?? []
      if (url !== undefined && printed.includes('Press Ctrl-C to stop.')) resolve(url)
    })
    api.once('exit', (code) => reject(new Error(`ended with ${code}: ${printed}`)))
  })
}

/** Runs lines with a kube config and the programs of a pod: kubectl and curl. */
const run = (lines: string, kubeconfig: string): Promise<Ran> =>
  runProgram('bash', ['-e', '-c', lines], {
    cwd: folder,
    env: {
      PATH: `${assets}:${process.env.PATH}`,
      HOME: folder,
      KUBECONFIG: join(folder, kubeconfig),
      CURL_CA_BUNDLE: join(folder, 'api', 'ca.crt'),
    },
  })

async function succeed(lines: string, kubeconfig: string): Promise<string> {
  const { code, stdout, stderr } = await run(lines, kubeconfig)
  expect([lines, code, stderr]).toEqual([lines, 0, expect.not.stringContaining('rror')])
  return stdout
}

const inCluster = (lines: string) => succeed(lines, 'cluster.config')
const asAdministrator = (lines: string) => succeed(lines, 'api/kubeconfig')

/** Returns the keys that the cluster publishes. */
async function publishedKeys(): Promise<object[]> {
  const [, printed = ''] = (await inCluster(commandsOf('Pods and controllers', 0))).split('\n{"keys"')
  return JSON.parse(`{"keys"${printed}`).keys
}

const apply = (object: Block) => asAdministrator(`kubectl apply -f - <<'EOF'\n${dump(object, { lineWidth: -1 })}EOF\n`)

const pin = (keys: object[]) => apply({ ...provider, spec: { ...provider.spec, jwks: JSON.stringify({ keys }) } })

/** Writes the kube config of the pod, and a token for it as the kubelet does. */
async function mount({ namespace = 'shop', audience = base } = {}): Promise<void> {
  const token = await inCluster(`kubectl create token operator -n ${namespace} --audience ${audience} --duration 1h`)
  const command = ci.commandsOf('CI jobs', 0, { 'shop-deploy': trust.metadata.name })
  const credential = (await asAdministrator(command)).trim()
  const here = (text: string) =>
    text
      .replaceAll('https://keys.example.com/prod/kubernetes/management', base)
      .replace(/shop-operator@[-0-9a-f]+/, credential)
  const data = { curl: here(config.data.curl), kubeconfig: here(config.data.kubeconfig) }
  await mountPod(data, { folder, token, authority: join(folder, 'api', 'ca.crt') })
}

const whoami = () => run('kubectl auth whoami -o jsonpath={.status.userInfo.username}', 'kubeconfig')
const accepted = { code: 0, stdout: 'team:shop', stderr: '' }
const refused = { code: 1, stderr: expect.stringContaining('the subject token is not accepted for this client_id') }

describe('a pod of a real cluster', () => {
  let before: object[]

  test('gets a key with curl as the plugin of kubectl', async () => {
    before = await publishedKeys()
    expect(before).toHaveLength(1)
    await pin(before)
    await apply(trust)
    await mount()
    expect(await whoami()).toEqual(accepted)
    expect(await whoami()).toEqual(accepted)
  })

  test('gets none in another namespace, or for another audience', async () => {
    await mount({ namespace: 'attacker' })
    expect(await whoami()).toMatchObject(refused)
    await mount({ audience: 'https://kubernetes.default.svc' })
    expect(await whoami()).toMatchObject(refused)
  })

  test('gets none with a new key of the cluster until it is pinned, and keeps its key until the old one is removed', async () => {
    await mount()
    const [, key = ''] = /"token": ?"(mpk_\w+)"/.exec((await run(pluginOf('kubeconfig'), 'kubeconfig')).stdout) ?? []
    const self = () =>
      run(
        `printf 'Authorization: Bearer ${key}' | curl -sS -H @- -H 'Content-Type: application/json' -d '{}' ${base}/apis/management.platform/v1/selves`,
        'kubeconfig',
      )
    expect((await self()).stdout).toContain('"team:shop"')
    await plane.close()
    await startCluster()
    const after = await publishedKeys()
    expect(after).not.toEqual(before)
    await mount()
    expect(await whoami()).toMatchObject(refused)
    await pin([...before, ...after])
    expect(await whoami()).toEqual(accepted)
    expect((await self()).stdout).toContain('"team:shop"')
    await pin(after)
    expect(await whoami()).toEqual(accepted)
    expect((await self()).stdout).toContain(
      'the identity provider of the access key has changed since the exchange: exchange another ID token',
    )
  })
})

/** Returns the command line of the plugin in a kube config of the test folder. */
const pluginOf = (file: string): string =>
  `kubectl --kubeconfig ${file} config view --raw -o json | node -e '
    const { command, args } = JSON.parse(fs.readFileSync(0)).users[0].user.exec
    child_process.spawnSync(command, args, { stdio: "inherit" })'`
