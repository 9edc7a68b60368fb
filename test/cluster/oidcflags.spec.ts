/**
 * Tests API servers that know keyplane only from `--oidc` flags: those of docs/first-connected-cluster.md, and those that EKS lets people
 * set, which accept RS256 only. The signing key is rotated from one algorithm to the other as docs/operating.md says.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../infra/local/host/freeport.ts'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { patience } from '../support/patience.ts'
import { request } from '../support/request.ts'
import { type StartedServer, startedServer } from '../support/startedserver.ts'
import { chooseAddress } from './planes.ts'

const NAME = 'shared'
const management = '/apis/management.platform/v1'
/** An API server tries to reach the issuer every ten seconds until it succeeds. */
const fetched = { ...patience, interval: 500 }

let folder: string
let port: number
let server: StartedServer
let key: string
let documented: Cluster
let eks: Cluster
/** Made before the second key was published. */
let before: Awaited<ReturnType<typeof makeToken>>

interface Cluster extends Pick<ControlPlane, 'close'> {
  /** Sends a request with a token, and returns its status and body. */
  call(token: string, path: string, body?: object): Promise<{ status: number; json: Record<string, unknown> }>
}

async function startCluster(flags: readonly string[]): Promise<Cluster> {
  const { port, authority, url } = await chooseAddress()
  const all = [...flags, `--oidc-ca-file=${join(folder, 'ca.crt')}`, '--authorization-mode=RBAC']
  const place = { folder: await mkdtemp(join(folder, 'cluster-')), port, authority, users: [] }
  const { admin, close } = await startControlPlane({
    assets: process.env.KUBEBUILDER_ASSETS ?? '',
    ...place,
    flags: all,
    now: Date.now,
  })
  const api = `${url}/apis/rbac.authorization.k8s.io/v1/clusterrolebindings`
  const { status } = await admin.send('POST', api, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'ci' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'keyplane:ci' }],
  })
  expect(status).toBe(201)
  const agent = new https.Agent({ ca: authority.certificate })
  return {
    close,
    call: (token, path, body) => request(agent, url + path, { token, ...(body && { method: 'POST', body }) }),
  }
}

/** Starts keyplane with this setting, in place of the one that runs. */
async function deploy(signingKeys: string): Promise<void> {
  await server?.stop()
  server = await startedServer({ SIGNING_KEYS: signingKeys, PORT: String(port), DATA_DIR: folder })
}

async function makeKey(name: string, spec: object): Promise<string> {
  const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata: { name }, spec }
  const { status, json } = await server.call(`${management}/ownedaccesskeys`, { method: 'POST', body })
  expect(status).toBe(201)
  return json.spec.key
}

async function makeToken(token = key, scope: object = { clusters: [{ cluster: NAME }] }) {
  const body = { apiVersion: 'management.platform/v1', kind: 'DirectClusterEndpointToken', spec: { ttl: 600, scope } }
  const answer = await server.call(`${management}/directclusterendpointtokens`, { method: 'POST', token, body })
  const [header = ''] = answer.json.status.token.split('.')
  const { alg } = JSON.parse(Buffer.from(header, 'base64url').toString())
  return { token: answer.json.status.token as string, alg, warning: answer.headers.warning }
}

const secrets = '/api/v1/secrets'
const statusAt = async (cluster: Cluster, token: string) => (await cluster.call(token, secrets)).status

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-oidc-'))
  port = await freePort()
  await deploy('1')
  key = await makeKey('ci', { user: 'ci', team: 'shop' })
  before = await makeToken()
  await deploy('1,2-rsa')
  // An API server keeps the keys for five minutes, so these have both, as they do an hour after the deployment.
  const page = await readFile(join(import.meta.dirname, '../../docs/first-connected-cluster.md'), 'utf8')
  const [, text = ''] = /^```text\n([\s\S]*?)^```$/m.exec(page) ?? []
  const flags = text.trim().replaceAll('URL', server.url).replaceAll('NAME', NAME).split('\n')
  const ofEks = flags.filter((flag) => !flag.startsWith('--oidc-signing-algs='))
  expect(ofEks).toHaveLength(flags.length - 1)
  ;[documented, eks] = await Promise.all([
    startCluster(flags),
    startCluster([...ofEks, '--oidc-required-claim=sub=ci']),
  ])
})
afterAll(async () => {
  await Promise.all([documented?.close(), eks?.close()])
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('users and groups work and scopes do not, as the page says', async () => {
  const narrow = await makeToken(key, { rules: [{ cluster: NAME, namespaces: ['shop'], verbs: ['get'] }] })
  expect([narrow.alg, narrow.warning]).toEqual(['ES256', undefined])
  // The scope allows only reads in one namespace, but no webhook enforces it.
  await expect.poll(() => statusAt(documented, narrow.token), fetched).toBe(200)
  const other = await makeToken(key, { clusters: [{ cluster: 'another' }] })
  expect(await statusAt(documented, other.token)).toBe(401)
  expect(await statusAt(eks, narrow.token)).toBe(401)
})

test('a rotation to RS256 loses no token, and then the flags of EKS suffice', async () => {
  const published = await makeToken()
  expect(published.alg).toBe('ES256')
  for (const { token } of [before, published]) await expect.poll(() => statusAt(documented, token), fetched).toBe(200)

  await deploy('2-rsa,1')
  const { json } = await server.call('/.well-known/openid-configuration')
  expect(json.id_token_signing_alg_values_supported).toEqual(['RS256', 'ES256'])
  const after = await makeToken()
  expect([after.alg, after.warning]).toEqual(['RS256', expect.stringContaining('enforces no scopes')])
  for (const { token } of [before, published, after]) expect(await statusAt(documented, token)).toBe(200)

  await deploy('2-rsa')
  const last = await makeToken()
  await expect.poll(() => statusAt(eks, last.token), fetched).toBe(200)
  expect(await statusAt(documented, last.token)).toBe(200)
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const whoami = await eks.call(last.token, '/apis/authentication.k8s.io/v1/selfsubjectreviews', review)
  expect(whoami.json.status).toMatchObject({
    userInfo: { username: 'keyplane:ci', groups: expect.arrayContaining(['system:authenticated']) },
  })

  // The claim that the cluster requires.
  const stranger = await makeToken(await makeKey('stranger', { user: 'stranger' }))
  expect([await statusAt(eks, stranger.token), await statusAt(documented, stranger.token)]).toEqual([401, 403])

  // The cluster asks nobody: the token of a deleted key works until it expires.
  await server.call(`${management}/ownedaccesskeys/ci`, { method: 'DELETE' })
  expect(await statusAt(eks, last.token)).toBe(200)
})
