/**
 * Starts control planes of KUBEBUILDER_ASSETS that accept tokens of a test server. Their only configuration is what
 * `keyplane clusters connect` writes and what the caller passes. They forget answers sooner, so that no test waits half a minute.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueClient, type KeyPair, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { freePort } from '../../infra/local/host/freeport.ts'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { demoRoles, USER_PREFIX } from '../../infra/local/kubeapiserver/kubeapiserverroles.ts'
import { ROLES, type Role } from '../../infra/local/virtualcluster/clusteraccess.ts'
import { clusterFiles, clusterFlags, type WhenAway } from '../../lib/clusters/connect/clusterfiles.ts'
import { dumpYaml } from '../../lib/engine/meta/encoding/yaml.ts'
import type { TestServer } from '../support/server.ts'

/** The time that the written configuration keeps answers (test/lib/clusters/connect/clusterfiles.test.ts), and that of these tests. */
const [WRITTEN_TTL, TTL] = ['30s', '3s']

/** The credential of a request: a bearer token or a client certificate. */
export type Credential = { token: string } | KeyPair

export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any
}

/** The future address of a control plane, which its virtual cluster instance contains. */
export interface Address {
  url: string
  port: number
  authority: KeyPair
  /** Bearer tokens of users that are allowed to create, approve or only request client certificates. */
  tokens: Record<Role, string>
}

export interface Plane extends ControlPlane, Address {
  /** The file with the key with which it asks for reviews. */
  accessKeyFile: string
  /** A client certificate of an administrator. */
  certificate: KeyPair
  call(path: string, credential: Credential, request?: { method?: string; body?: object }): Promise<Reply>
  /** Stops it and removes its files. */
  stop(): Promise<void>
}

export async function chooseAddress(): Promise<Address> {
  const port = await freePort()
  const authority = await makeAuthority('keyplane test cluster', validFor(3650, Date.now()))
  const tokens = { manager: 'token-manager', approver: 'token-approver', requester: 'token-requester' }
  return { url: `https://127.0.0.1:${port}`, port, authority, tokens }
}

/** Starts a control plane. `place` names the cluster, `accessKey` authenticates its reviews, and `flags` are additional. */
export async function startPlane(
  server: TestServer,
  address: Address,
  {
    place,
    whenAway = 'refuse',
    accessKey,
    signs = true,
    flags = [],
  }: { place: string; whenAway?: WhenAway; accessKey: string; signs?: boolean; flags?: string[] },
): Promise<Plane> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-cluster-'))
  const accessKeyFile = join(folder, 'keyplane-access-key')
  await writeFile(accessKeyFile, accessKey, { mode: 0o600 })
  const { base, certificateAuthority } = server
  const options = { issuer: base, api: base, place, whenAway, certificateAuthority, directory: folder }
  for (const { name, content } of clusterFiles(options))
    await writeFile(join(folder, name), (await dumpYaml(content)).replaceAll(`TTL: ${WRITTEN_TTL}`, `TTL: ${TTL}`))
  const { port, authority, tokens } = address
  const plane = await startControlPlane({
    assets: process.env.KUBEBUILDER_ASSETS ?? '',
    folder,
    port,
    authority,
    users: ROLES.map((role) => ({ token: tokens[role], name: `${USER_PREFIX}${role}`, uid: role })),
    flags: [
      ...clusterFlags(options).map((flag) => flag.replace(`cache-ttl=${WRITTEN_TTL}`, `cache-ttl=${TTL}`)),
      ...flags,
    ],
    signs,
    now: Date.now,
  })
  for (const { resource, object } of demoRoles())
    await plane.admin.send('POST', `${plane.url}/apis/rbac.authorization.k8s.io/v1/${resource}`, object)
  const subject = { commonName: 'root', organizations: ['system:masters'] }
  return {
    ...plane,
    ...address,
    accessKeyFile,
    certificate: await issueClient(authority, subject, validFor(1, Date.now())),
    call: (path, credential, request = {}) => call(`${plane.url}${path}`, authority, credential, request),
    async stop() {
      await plane.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function call(
  url: string,
  authority: KeyPair,
  credential: Credential,
  { method = 'GET', body }: { method?: string; body?: object },
): Promise<Reply> {
  const who =
    'token' in credential
      ? { headers: { authorization: `Bearer ${credential.token}`, 'content-type': 'application/json' } }
      : { headers: { 'content-type': 'application/json' }, cert: credential.certificate, key: credential.key }
  return new Promise((resolve, reject) => {
    const options = { method, ca: authority.certificate, agent: false, ...who } as const
    const sent = https.request(url, options, async (response) => {
      const chunks: Buffer[] = await response.toArray()
      const text = Buffer.concat(chunks).toString()
      resolve({ status: response.statusCode ?? 0, json: text.startsWith('{') ? JSON.parse(text) : text })
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}
