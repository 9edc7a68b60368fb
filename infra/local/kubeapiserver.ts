/**
 * A real kube-apiserver as the demo virtual cluster: etcd, kube-apiserver and the signing controller of
 * kube-controller-manager, from the folder that KUBEBUILDER_ASSETS names. It knows the same credentials as the demo, and
 * takes our tokens by the same files as any other cluster (docs/clusters.md). Flags: Kubernetes 1.34.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { clusterFiles, clusterFlags } from '../clusterfiles.ts'
import { type ApiClient, createApiClient } from './apiclient.ts'
import { issueLoopback } from './certificates.ts'
import { ROLES } from './clusteraccess.ts'
import { type ClusterState, openClusterState } from './clusterstate.ts'
import type { DemoCluster, TrustedIssuer } from './democluster.ts'
import { freePort } from './freeport.ts'
import { type GuardedProcess, startGuarded } from './guardedprocess.ts'
import { demoRoles, USER_PREFIX } from './kubeapiserverroles.ts'
import { kubeConfigFile } from './kubeconfigfile.ts'
import { StartupError } from './startuperror.ts'
import { writeDurably } from './stored.ts'

export interface KubeApiserverOptions {
  /** Folder with the three binaries. */
  assets: string
  /** For what they need and keep: etcd's data among it. */
  folder: string
  /** Keeps authority, port and tokens; absent = in memory. */
  path?: string
  /** Unix milliseconds. */
  now: () => number
}

const READY_SECONDS = 60
/**
 * Chooses address and credentials now, and runs the processes when it is told whose tokens to take: kube-apiserver reads
 * the files about that when it starts, and some of them no sooner than a minute later again. Throws a StartupError.
 */
export async function prepareKubeApiserver({ assets, folder, path, now }: KubeApiserverOptions): Promise<DemoCluster> {
  const state = await openClusterState(path, now())
  const port = await freePort(state.port).catch(() => freePort())
  await state.keepPort(port)
  const url = `https://127.0.0.1:${port}`
  const running = new AsyncDisposableStack()
  const run = (binary: string, flags: readonly string[]): GuardedProcess => {
    const started = startGuarded(join(assets, binary), flags)
    running.defer(() => started.stop())
    return started
  }
  return {
    url,
    certificateAuthority: state.authority.certificate,
    managerToken: state.tokens.manager,
    async trust(issuer) {
      const [etcd, peer] = [await freePort(), await freePort()]
      const admin = randomBytes(32).toString('base64url')
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFiles(folder, state, url, admin, now())
      await writeTrust(folder, issuer)
      const processes = [
        run('etcd', etcdFlags(folder, etcd, peer)),
        run('kube-apiserver', apiserverFlags(folder, port, etcd)),
      ]
      const client = createApiClient(state.authority.certificate, admin)
      await ready(client, url, processes)
      await makeRoles(client, url)
      run('kube-controller-manager', controllerFlags(folder))
    },
    close: () => running.disposeAsync(),
  }
}

/** Certificates, keys, tokens and the controller's kube config. `admin` is the token of an administrator. */
async function writeFiles(
  folder: string,
  { authority, tokens }: ClusterState,
  server: string,
  admin: string,
  now: number,
): Promise<void> {
  const serving = await issueLoopback(authority, now)
  const serviceAccount = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { format: 'pem', type: 'sec1' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  })
  const users = [
    ...ROLES.map((role) => `${tokens[role]},${USER_PREFIX}${role},${role}`),
    `${admin},${USER_PREFIX}admin,admin,"system:masters"`,
  ]
  const controller = kubeConfigFile({
    name: 'controller',
    server,
    certificateAuthority: authority.certificate,
    token: admin,
  })
  const files = {
    'ca.crt': authority.certificate,
    'ca.key': authority.key,
    'serving.crt': serving.certificate,
    'serving.key': serving.key,
    'sa.key': serviceAccount.privateKey,
    'tokens.csv': `${users.join('\n')}\n`,
    'controller.kubeconfig': controller,
  }
  await Promise.all(Object.entries(files).map(([name, content]) => writeDurably(join(folder, name), content)))
}

/** What docs/clusters.md says a cluster needs. */
async function writeTrust(folder: string, { issuer, authority, accessKey, identity }: TrustedIssuer): Promise<void> {
  const files = clusterFiles({ issuer, api: issuer, identity, directory: folder, certificateAuthority: authority })
  await writeDurably(join(folder, 'keyplane-access-key'), accessKey)
  for (const { name, content } of files) await writeDurably(join(folder, name), JSON.stringify(content))
}

const etcdFlags = (folder: string, port: number, peer: number): string[] => [
  `--data-dir=${join(folder, 'etcd')}`,
  `--listen-client-urls=http://127.0.0.1:${port}`,
  `--advertise-client-urls=http://127.0.0.1:${port}`,
  `--listen-peer-urls=http://127.0.0.1:${peer}`,
  `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
  `--initial-cluster=default=http://127.0.0.1:${peer}`,
]

const apiserverFlags = (folder: string, port: number, etcd: number): string[] => [
  `--etcd-servers=http://127.0.0.1:${etcd}`,
  '--bind-address=127.0.0.1',
  '--advertise-address=127.0.0.1',
  `--secure-port=${port}`,
  '--endpoint-reconciler-type=none',
  '--service-cluster-ip-range=10.0.0.0/24',
  `--tls-cert-file=${join(folder, 'serving.crt')}`,
  `--tls-private-key-file=${join(folder, 'serving.key')}`,
  `--client-ca-file=${join(folder, 'ca.crt')}`,
  `--token-auth-file=${join(folder, 'tokens.csv')}`,
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${join(folder, 'sa.key')}`,
  `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
  ...clusterFlags({ directory: folder }),
]

const controllerFlags = (folder: string): string[] => [
  `--kubeconfig=${join(folder, 'controller.kubeconfig')}`,
  '--controllers=certificatesigningrequest-signing-controller',
  `--cluster-signing-cert-file=${join(folder, 'ca.crt')}`,
  `--cluster-signing-key-file=${join(folder, 'ca.key')}`,
  '--leader-elect=false',
  '--secure-port=0',
]

async function ready(client: ApiClient, url: string, processes: readonly GuardedProcess[]): Promise<void> {
  let dead: string | undefined
  for (const { ended } of processes)
    ended.then((why) => {
      dead = why
    })
  const end = performance.now() + READY_SECONDS * 1000
  for (;;) {
    const answer = await client.send('GET', `${url}/readyz`).catch(() => undefined)
    if (answer?.status === 200) return
    if (dead !== undefined) throw new StartupError(`The kube-apiserver of KUBEBUILDER_ASSETS does not start: ${dead}`)
    if (performance.now() > end)
      throw new StartupError(`The kube-apiserver of KUBEBUILDER_ASSETS is not ready after ${READY_SECONDS} seconds.`)
    await delay(100)
  }
}

/** Roles that exist are left alone. */
async function makeRoles(client: ApiClient, url: string): Promise<void> {
  for (const { resource, object } of demoRoles()) {
    const path = `${url}/apis/rbac.authorization.k8s.io/v1/${resource}`
    const { status, body } = await client.send('POST', path, object)
    if (status !== 201 && status !== 409)
      throw new StartupError(
        `The kube-apiserver refuses a role: ${(body as { message?: string } | undefined)?.message}.`,
      )
  }
}
