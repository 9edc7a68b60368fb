/**
 * Tests how clusters of Amazon EKS are reached, with what EKS consists of: a kube-apiserver whose webhook verifies tokens, and maps roles,
 * with the packages of aws-iam-authenticator. It asks a local STS, which checks signatures with the signer of the SDK, at the name of
 * the real one.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../infra/local/host/freeport.ts'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { createClusterClient } from '../../lib/clusters/cluster/client.ts'
import { isFailure } from '../../lib/clusters/cluster/failure.ts'
import { accountObjects } from '../../lib/clusters/connect/accounts.ts'
import { EKS_GROUP } from '../../lib/clusters/connect/eksaccess.ts'
import { eksBearer } from '../../lib/clusters/eks/bearer.ts'
import { createEks, type Eks } from '../../lib/clusters/eks/ekscredentials.ts'
import { createSecret, removeSecret, requestToken } from '../../lib/clusters/serviceaccounts/boundtoken.ts'
import { sendHttps } from '../../lib/engine/outbound/https.ts'
import { type LocalAws, REGION, ROLE, startLocalAws } from '../support/localaws.ts'
import { hasGo } from './golang.ts'
import { chooseAddress } from './planes.ts'

const source = join(import.meta.dirname, '../clients/iamauthenticator')

const NAME = 'prod'
const NAMESPACE = 'keyplane'

let folder: string
let local: LocalAws
let plane: ControlPlane
let eks: Eks
let address: { server: string; certificateAuthority: string }
const authenticators: ChildProcess[] = []

/** An authenticator: where it is, and the file with which an API server asks it. */
interface Authenticator {
  url: string
  webhook: string
  certificateAuthority: string
}

/**
 * Starts the webhook for a cluster of this name, with an access entry for the role. It knows nothing of accounts: the role may be of any.
 */
async function startAuthenticator(cluster: string, role: string): Promise<Authenticator> {
  const own = await mkdtemp(join(folder, 'authenticator-'))
  const access = ['--cluster', cluster, '--region', REGION, '--role', role, '--group', EKS_GROUP]
  const port = await freePort()
  const child = spawn(join(folder, 'iamauthenticator'), [...access, '--port', String(port), '--folder', own], {
    env: { HTTPS_PROXY: local.proxy, SSL_CERT_FILE: join(folder, 'aws.crt') },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  authenticators.push(child)
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('listening on')) resolve()
    })
    child.once('close', () => reject(new Error(`the authenticator ended: ${said}`)))
  })
  const certificateAuthority = await readFile(join(own, 'cert.pem'), 'utf8')
  return { url: `https://127.0.0.1:${port}`, webhook: join(own, 'webhook.kubeconfig'), certificateAuthority }
}

/** Asks an authenticator as the API server of its cluster does. */
async function accepts({ url, certificateAuthority }: Authenticator, token = ''): Promise<boolean> {
  const review = { apiVersion: 'authentication.k8s.io/v1beta1', kind: 'TokenReview', spec: { token } }
  const { body } = await sendHttps({
    url: new URL('/authenticate', url),
    method: 'POST',
    body: JSON.stringify(review),
    signal: AbortSignal.timeout(20_000),
    maxBytes: 65_536,
    certificateAuthority,
  })
  return JSON.parse(body.toString()).status.authenticated
}

/** Where the objects are that keyplane clusters connect writes. */
const collections: Readonly<Record<string, string>> = {
  Namespace: '/api/v1/namespaces',
  Role: `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles`,
  RoleBinding: `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings`,
}

async function make(path: string, object: object): Promise<void> {
  const { status } = await plane.admin.send('POST', plane.url + path, object)
  expect(status).toBe(201)
}

beforeAll(async () => {
  if (!hasGo) return
  folder = await mkdtemp(join(tmpdir(), 'keyplane-eks-'))
  local = await startLocalAws()
  await promisify(execFile)('go', ['build', '-o', join(folder, 'iamauthenticator'), '.'], { cwd: source })
  await writeFile(join(folder, 'aws.crt'), local.certificateAuthority)
  const { webhook } = await startAuthenticator(NAME, ROLE)
  const { port, authority, url } = await chooseAddress()
  address = { server: url, certificateAuthority: authority.certificate }
  plane = await startControlPlane({
    assets: process.env.KUBEBUILDER_ASSETS ?? '',
    folder: join(folder, 'plane'),
    port,
    authority,
    users: [],
    flags: [`--authentication-token-webhook-config-file=${webhook}`, '--authorization-mode=RBAC'],
    now: Date.now,
  })
  for (const object of accountObjects(NAMESPACE, EKS_GROUP)) await make(collections[String(object.kind)] ?? '', object)
  await make(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: 'user.alice' } })
  eks = createEks(ROLE, local.sts)
})
afterAll(async () => {
  await plane?.close()
  for (const one of authenticators.filter(({ exitCode }) => exitCode === null)) {
    one.kill('SIGKILL')
    await once(one, 'close')
  }
  await local?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const asking = async (name = NAME) => {
  const credentials = await eks.credentials('eu', { name, ...address })
  return { client: createClusterClient('eu', credentials), signal: AbortSignal.timeout(20_000) }
}

const whoami = async (name?: string) => {
  const { client, signal } = await asking(name)
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  return client.send({ method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body, signal })
}

describe.skipIf(!hasGo)('clusters of EKS', () => {
  test('know the role of the deployment, whose session is in their audit logs', async () => {
    const { status } = await whoami()
    expect(status).toMatchObject({ userInfo: { username: 'keyplane', groups: expect.arrayContaining([EKS_GROUP]) } })
    expect(local.calls).toContain('GetCallerIdentity')
  })

  test('make tokens of service accounts that end with a Secret, with the rights that keyplane clusters connect writes', async () => {
    const bound = { namespace: NAMESPACE, account: 'user.alice', secret: 'keyplane-1' }
    const with_ = await asking()
    await createSecret(bound, { labels: {}, annotations: {} }, with_)
    const { token } = await requestToken(bound, 600, with_)
    const authority = await readFile(join(folder, 'plane/ca.crt'), 'utf8')
    const client = createClusterClient('eu', { server: plane.url, certificateAuthority: authority, token })
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const { status } = await client.send({ method: 'POST', path, body, signal: with_.signal })
    expect(status).toMatchObject({ userInfo: { username: `system:serviceaccount:${NAMESPACE}:user.alice` } })
    expect(await removeSecret(bound, with_)).toBe('removed')
    const read = `/api/v1/namespaces/${NAMESPACE}/secrets/keyplane-1`
    const refused = await with_.client.send({ method: 'GET', path: read, signal: with_.signal }).catch((error) => error)
    expect(isFailure(refused, 'forbidden')).toBe(true)
  })

  // threat: exchange-40
  test('refuse the token of another cluster', async () => {
    expect(isFailure(await whoami('other').catch((error) => error), 'unauthorized')).toBe(true)
  })

  // threat: exchange-40
  test('accept what another cluster of the same name was sent, if they have an access entry of the role', async () => {
    const [entered, other] = await Promise.all([
      startAuthenticator(NAME, ROLE),
      startAuthenticator(NAME, ROLE.replace(/\d{12}/, '210987654321')),
    ])
    const { token } = await eks.credentials('eu', { name: NAME, ...address })
    expect(await Promise.all([accepts(entered, token), accepts(other, token)])).toEqual([true, false])
    // So each address is sent a token of its own, and none that another one has seen.
    const { token: second } = await eks.credentials('eu', { name: NAME, server: entered.url })
    expect(await accepts(entered, second)).toBe(true)
    expect(second).not.toBe(token)
  })

  test('refuse a role that no access entry names', async () => {
    const token = eksBearer(NAME, REGION, local.sts.credentials(), new Date())
    const client = createClusterClient('eu', { ...address, token })
    const asked = client.send({ method: 'GET', path: '/api/v1/namespaces', signal: AbortSignal.timeout(20_000) })
    expect(isFailure(await asked.catch((error) => error), 'unauthorized')).toBe(true)
    expect(local.calls.at(-1)).toBe('GetCallerIdentity')
  })
})
