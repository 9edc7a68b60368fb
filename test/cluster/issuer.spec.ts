/** Tests a kube-apiserver as the issuer of ID tokens: pods present the tokens of their service accounts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KeyPair, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { freePort } from '../../infra/local/host/freeport.ts'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { sendHttps } from '../../lib/engine/outbound/https.ts'
import { storageOver } from '../../lib/engine/storage/protocol/storage.ts'
import { fetchKeys } from '../../lib/federation/discovery.ts'
import type { ProviderSpec } from '../../lib/federation/identityprovider.schema.ts'
import { checkTimes, type IdToken, parseIdToken } from '../../lib/federation/idtoken.ts'
import { createIssuerKeys } from '../../lib/federation/issuerkeys.ts'
import type { Provider } from '../../lib/federation/provider.ts'
import { createMemoryItems } from '../support/memoryitems.ts'

/** The same for every cluster of kubeadm. */
const issuer = 'https://kubernetes.default.svc'

let folder: string
let authority: KeyPair
let port: number
let plane: ControlPlane
let failures: string[]
/** How far the clock of the function is ahead, in ms. */
let ahead = 0

/** Starts the cluster, or starts it again with its objects and another key for service accounts. */
const start = () =>
  startControlPlane({
    assets: process.env.KUBEBUILDER_ASSETS ?? '',
    folder,
    port,
    authority,
    users: [],
    // Anonymous users may do what is bound to them below.
    flags: ['--authorization-mode=RBAC'],
    signs: false,
    now: Date.now,
  })

const create = async (path: string, object: object) => {
  const { status, body } = await plane.admin.send('POST', `${plane.url}${path}`, object)
  expect(status).toBe(201)
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  return body as any
}

const makeToken = async (audience = 'keyplane'): Promise<IdToken> => {
  const path = '/api/v1/namespaces/default/serviceaccounts/shop/token'
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [audience] } }
  return parseIdToken((await create(path, request)).status.token)
}

/** Returns what `kubectl get --raw /openid/v1/jwks` prints. */
async function readKeys(): Promise<string> {
  const { body } = await sendHttps({
    url: new URL(`https://localhost:${port}/openid/v1/jwks`),
    method: 'GET',
    headers: { Authorization: `Bearer ${plane.adminToken}` },
    signal: AbortSignal.timeout(10_000),
    maxBytes: 100_000,
    certificateAuthority: authority.certificate,
  })
  return body.toString()
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-issuer-'))
  authority = await makeAuthority('keyplane test cluster', validFor(3650, Date.now()))
  port = await freePort()
  plane = await start()
  await create('/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'shop' },
  })
})
afterAll(async () => {
  await plane?.close()
  await rm(folder, { recursive: true, force: true })
})

const provider = (spec: Partial<ProviderSpec>): Provider => ({
  name: 'cluster',
  uid: 'uid',
  revision: 1,
  deleted: false,
  spec: { issuer, ...spec },
})

function startKeys() {
  failures = []
  const now = () => Date.now() + ahead
  const destinations = {
    allows: (address: string) => address === '127.0.0.1',
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  }
  const certificateAuthority = authority.certificate
  return createIssuerKeys({
    storage: storageOver(createMemoryItems(now), { now, random: Math.random, sleep: async () => {} }),
    fetch: (source) => fetchKeys({ destinations, certificateAuthority, timeout: AbortSignal.timeout }, source),
    observer: {
      fetched: (_, error) => void (error instanceof Error && failures.push(error.message)),
      stale: () => undefined,
    },
    now,
    sleep: async () => {},
  })
}

describe('the token of a service account', () => {
  test('is an ID token, and is verified with the pinned keys of its cluster', async () => {
    const token = await makeToken()
    expect(token).toMatchObject({
      alg: 'ES256',
      issuer,
      audience: 'keyplane',
      subject: 'system:serviceaccount:default:shop',
      claims: { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'shop' } } },
    })
    expect(checkTimes(token, new Date())).toBeUndefined()
    const keys = startKeys()
    expect(await keys.verify(provider({ jwks: await readKeys() }), token)).toBe('valid')
  })

  test('is verified with fetched keys once the cluster publishes them', async () => {
    const keys = startKeys()
    const published = provider({ jwksURI: `https://localhost:${port}/openid/v1/jwks` })
    const token = await makeToken()
    expect(await keys.verify(published, token)).toMatchObject({ unknown: 'keys' })
    expect(failures).toEqual(['the issuer answered with HTTP status 403'])
    await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'public-keys' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'system:service-account-issuer-discovery',
      },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:unauthenticated' }],
    })
    ahead += 61_000
    expect(await keys.verify(published, token)).toBe('valid')
  })

  test('is invalid after the cluster has another key, and a new token is valid', async () => {
    const keys = startKeys()
    const published = provider({ jwksURI: `https://localhost:${port}/openid/v1/jwks` })
    const before = await makeToken()
    const pinned = provider({ jwks: await readKeys() })
    expect(await keys.verify(published, before)).toBe('valid')
    await plane.close()
    plane = await start()
    ahead += 61_000
    const after = await makeToken()
    expect(await keys.verify(published, after)).toBe('valid')
    expect(await keys.verify(published, before)).toMatchObject({ unknown: 'key' })
    expect(await keys.verify(pinned, after)).toBe('invalid')
  })
})
