/**
 * Starts a kube-apiserver with the stored kinds as custom resources, from the binaries in KUBEBUILDER_ASSETS (as
 * setup-envtest installs them). No controller runs, so there is no garbage collection.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { issueLoopback, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { freePort } from '../../infra/local/host/freeport.ts'
import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { createClient, type Target } from '../conformance/client.ts'
import type { Step } from '../conformance/scenario.ts'
import { definitionOf } from './definitions.ts'

export interface Oracle extends Target {
  /** kube-apiserver and etcd. */
  pids: readonly number[]
  /** Creates a namespace, which namespaced custom resources need. */
  makeNamespace(name: string): Promise<void>
  stop(): Promise<void>
}

const startSeconds = 120
const keptWords = 20

/** Processes that exit with this process. Their last output is kept for failures at start. */
function start(program: string, args: readonly string[], words: string[] = []): ChildProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.on('data', (chunk: Buffer) => {
    words.push(chunk.toString())
    if (words.length > keptWords) words.shift()
  })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function startEtcd(
  assets: string,
  folder: string,
  durable: boolean,
): Promise<{ child: ChildProcess; url: string }> {
  const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`)
  if (!client || !peer) throw new Error('no free ports')
  const child = start(join(assets, 'etcd'), [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    ...(durable ? [] : ['--unsafe-no-fsync']),
  ])
  return { child, url: client }
}

/** Starts etcd and kube-apiserver and installs the kinds. `durable`: etcd waits for the disk. */
export async function startOracle(assets: string, { durable = false } = {}): Promise<Oracle> {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-'))
  const etcd = await startEtcd(assets, folder, durable)
  const port = await freePort()
  const token = randomBytes(24).toString('hex')
  const authority = await makeAuthority('oracle', validFor(1, Date.now()))
  const serving = await issueLoopback(authority, Date.now())
  const files = {
    'tls.crt': serving.certificate,
    'tls.key': serving.key,
    tokens: `${token},admin,admin,system:masters\n`,
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  const words: string[] = []
  const options = [
    `--etcd-servers=${etcd.url}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${folder}`,
    `--tls-cert-file=${join(folder, 'tls.crt')}`,
    `--tls-private-key-file=${join(folder, 'tls.key')}`,
    `--token-auth-file=${join(folder, 'tokens')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://oracle.invalid',
    `--service-account-key-file=${join(folder, 'tls.crt')}`,
    `--service-account-signing-key-file=${join(folder, 'tls.key')}`,
    '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
    '--enable-priority-and-fairness=false',
  ]
  const child = start(join(assets, 'kube-apiserver'), options, words)
  const target: Target = {
    base: `https://127.0.0.1:${port}`,
    certificateAuthority: authority.certificate,
    tokens: { '': token },
  }
  const client = createClient(target)
  const oracle = {
    ...target,
    pids: [child, etcd.child].flatMap(({ pid }) => pid ?? []),
    async makeNamespace(name: string) {
      const metadata = { name }
      const { code } = await client.send({ method: 'POST', path: '//api/v1/namespaces', body: { metadata } })
      if (code !== 201) throw new Error(`no namespace ${name}: ${code}`)
    },
    async stop() {
      client.close()
      await stop(child)
      await stop(etcd.child)
      await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    await until(async () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Exited(child.signalCode ?? '')
      return (await client.send({ method: 'GET', path: '//readyz' })).code === 200
    })
    for (const definition of [definitionOf(OwnedAccessKey), definitionOf(VirtualClusterInstance)]) {
      const path = '//apis/apiextensions.k8s.io/v1/customresourcedefinitions'
      const { code, text } = await client.send({ method: 'POST', path, body: definition } as Step)
      if (code !== 201) throw new Error(`a kind was refused: ${text}`)
    }
    for (const kind of [OwnedAccessKey, VirtualClusterInstance]) {
      await until(async () => (await client.send({ method: 'GET', path: `/${kind.plural}` })).code === 200)
    }
    return oracle
  } catch (error) {
    await oracle.stop()
    throw new Error(`no oracle: ${words.join('')}`, { cause: error })
  }
}

class Exited extends Error {}

/** Polls every 100 ms. A refused connection counts as not ready. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + startSeconds * 1000
  const isNotReady = (error: unknown): false => {
    if (error instanceof Exited) throw error
    return false
  }
  while (!(await condition().catch(isNotReady))) {
    if (Date.now() > end) throw new Error('the kube-apiserver does not come up')
    await delay(100)
  }
}
