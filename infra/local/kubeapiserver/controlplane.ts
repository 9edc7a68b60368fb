/**
 * Runs a control plane on this machine from the binaries in KUBEBUILDER_ASSETS: etcd, kube-apiserver and the signing controller
 * of kube-controller-manager. Flags: Kubernetes 1.34.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeFolder } from '../../../clients/core/src/files/privatefiles.ts'
import { issueLoopback, type KeyPair, makeAuthority, validFor } from '../host/certificates.ts'
import { freePort } from '../host/freeport.ts'
import { type GuardedProcess, startGuardedProcess } from '../host/guardedprocess.ts'
import { kubeConfigFile } from '../host/kubeconfigfile.ts'
import { StartupError } from '../host/startuperror.ts'
import { writeDurably } from '../host/stored.ts'
import { type ApiClient, createApiClient } from '../virtualcluster/apiclient.ts'

export interface ControlPlaneOptions {
  /** Folder with the three binaries. */
  assets: string
  /** Folder for their files, including etcd's data. Created when missing. */
  folder: string
  /** Port of `https://127.0.0.1:PORT`, the URL of the control plane. */
  port: number
  /** Signs the serving certificate and client certificates. */
  authority: KeyPair
  /** Users by bearer token. */
  users: readonly { token: string; name: string; uid: string; groups?: readonly string[] }[]
  /** More flags of kube-apiserver, for authentication and authorization. */
  flags: readonly string[]
  /** Runs the controller that signs CertificateSigningRequests. Default true. */
  signs?: boolean
  /** Unix milliseconds. */
  now: () => number
}

export interface ControlPlane {
  url: string
  /** Bearer token of a user in system:masters. */
  adminToken: string
  /** Sends a request as that administrator. */
  admin: ApiClient
  close(): Promise<void>
}

const READY_SECONDS = 60

/** Resolves when the control plane is ready. Stops all processes and throws a StartupError when it cannot start. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { assets, folder, port, authority, signs = true } = options
  await using starting = new AsyncDisposableStack()
  const run = (binary: string, flags: readonly string[]): GuardedProcess => {
    const started = startGuardedProcess(join(assets, binary), flags)
    starting.defer(() => started.stop())
    return started
  }
  const url = `https://127.0.0.1:${port}`
  const [etcd, peer] = [await freePort(), await freePort()]
  const adminToken = randomBytes(32).toString('base64url')
  await makeFolder(folder)
  await writeFiles(options, url, adminToken)
  const processes = [
    run('etcd', etcdFlags(folder, etcd, peer)),
    run('kube-apiserver', [...apiserverFlags(folder, port, etcd), ...options.flags]),
  ]
  const admin = createApiClient(authority.certificate, adminToken)
  await ready(admin, url, processes)
  if (signs) run('kube-controller-manager', controllerFlags(folder))
  const started = starting.move()
  return { url, adminToken, admin, close: () => started.disposeAsync() }
}

/** Writes certificates, keys, tokens and the controller's kube config. */
async function writeFiles(
  { folder, authority, users, now }: ControlPlaneOptions,
  server: string,
  adminToken: string,
): Promise<void> {
  const serving = await issueLoopback(authority, now())
  const serviceAccount = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { format: 'pem', type: 'sec1' },
    publicKeyEncoding: { format: 'pem', type: 'spki' },
  })
  const all = [...users, { token: adminToken, name: 'control-plane:admin', uid: 'admin', groups: ['system:masters'] }]
  const lines = all.map(
    ({ token, name, uid, groups }) => `${token},${name},${uid}${groups ? `,"${groups.join(',')}"` : ''}\n`,
  )
  const controller = kubeConfigFile({
    name: 'controller',
    server,
    certificateAuthority: authority.certificate,
    token: adminToken,
  })
  // Access to etcd equals administrator access, so etcd requires this client certificate.
  const etcdAuthority = await makeAuthority('keyplane etcd', validFor(ETCD_DAYS, now()))
  const etcd = await issueLoopback(etcdAuthority, now(), ['server auth', 'client auth'])
  const files = {
    'etcd-ca.crt': etcdAuthority.certificate,
    'etcd.crt': etcd.certificate,
    'etcd.key': etcd.key,
    'ca.crt': authority.certificate,
    'ca.key': authority.key,
    'serving.crt': serving.certificate,
    'serving.key': serving.key,
    'sa.key': serviceAccount.privateKey,
    'tokens.csv': lines.join(''),
    'controller.kubeconfig': controller,
  }
  await Promise.all(Object.entries(files).map(([name, content]) => writeDurably(join(folder, name), content)))
}

const ETCD_DAYS = 365

const etcdFlags = (folder: string, port: number, peer: number): string[] => [
  `--data-dir=${join(folder, 'etcd')}`,
  `--listen-client-urls=https://127.0.0.1:${port}`,
  `--advertise-client-urls=https://127.0.0.1:${port}`,
  `--listen-peer-urls=https://127.0.0.1:${peer}`,
  `--initial-advertise-peer-urls=https://127.0.0.1:${peer}`,
  `--initial-cluster=default=https://127.0.0.1:${peer}`,
  ...['', 'peer-'].flatMap((side) => [
    `--${side}cert-file=${join(folder, 'etcd.crt')}`,
    `--${side}key-file=${join(folder, 'etcd.key')}`,
    `--${side}trusted-ca-file=${join(folder, 'etcd-ca.crt')}`,
    `--${side}client-cert-auth`,
  ]),
]

const apiserverFlags = (folder: string, port: number, etcd: number): string[] => [
  `--etcd-servers=https://127.0.0.1:${etcd}`,
  `--etcd-cafile=${join(folder, 'etcd-ca.crt')}`,
  `--etcd-certfile=${join(folder, 'etcd.crt')}`,
  `--etcd-keyfile=${join(folder, 'etcd.key')}`,
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
