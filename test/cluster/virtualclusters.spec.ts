/** Tests kube configs of a virtual cluster that is a real kube-apiserver, with its credentials in Secrets Manager. */

import { X509Certificate } from 'node:crypto'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { issueClient, type KeyPair, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { freePort } from '../../infra/local/host/freeport.ts'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { createKubectl } from '../support/kubectl.ts'
import { patience } from '../support/patience.ts'
import type { Answer } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { changeKey, type Key, makeKey, management } from './keys.ts'
import { type Address, chooseAddress, type Plane, startPlane } from './planes.ts'

let server: TestServer
/** The virtual cluster that signs client certificates. */
let dev: Plane
/** The virtual cluster that accepts signing requests and signs none. */
let unsigning: Plane
let alice: Key

const instances = `${management}/namespaces/p-team/virtualclusterinstances`
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const forgotten = { ...patience, interval: 500 }

const kubeconfig = (name: string, spec: object, token = alice.value): Promise<Answer> =>
  server.call(`${instances}/${name}/kubeconfig`, { method: 'POST', token, body: { spec } })

/** Creates an instance at this address and returns its UID. */
async function makeInstance(name: string, { port, authority }: Pick<Address, 'port' | 'authority'>): Promise<string> {
  const { status, json } = await server.call(instances, {
    method: 'POST',
    body: {
      apiVersion: 'management.platform/v1',
      kind: 'VirtualClusterInstance',
      metadata: { name },
      spec: {
        owner: { user: 'alice' },
        accessPoint: { ingress: { enabled: true, host: `127.0.0.1:${port}` } },
        certificateAuthorityData: Buffer.from(authority.certificate).toString('base64'),
      },
    },
  })
  expect([status, json.message]).toEqual([201, undefined])
  return json.metadata.uid
}

const credentials = (server: string, { certificate }: KeyPair, token: string) =>
  kubeConfigFile({ name: 'virtual', server, certificateAuthority: certificate, token })

async function connect(name: string, signs: boolean): Promise<Plane> {
  const address = await chooseAddress()
  const uid = await makeInstance(name, address)
  const scope = { roles: [{ role: 'vcluster', virtualClusters: [`team/${name}`] }] }
  const { value } = await makeKey(server, { user: `vcluster-${name}`, scope })
  const place = `virtualclusters/p-team/${name}/${uid}`
  return startPlane(server, address, { place, accessKey: value, signs })
}

/** Returns the certificate in a kube config. */
function certificateOf(text: string): X509Certificate {
  const { users } = load(text) as { users: { user: { 'client-certificate-data': string } }[] }
  return new X509Certificate(Buffer.from(users[0]?.user['client-certificate-data'] ?? '', 'base64'))
}

async function withKubectl<T>(text: string, use: (kubectl: Awaited<ReturnType<typeof createKubectl>>) => Promise<T>) {
  const kubectl = await createKubectl(text)
  try {
    return await use(kubectl)
  } finally {
    await kubectl.stop()
  }
}

const remainingRequests = async (plane: Plane) => (await plane.call(requests, plane.certificate)).json.items

beforeAll(async () => {
  server = await startServer()
  alice = await makeKey(server, { user: 'alice', groups: ['dev', 'ops'] })
  ;[dev, unsigning] = await Promise.all([connect('dev', true), connect('unsigned', false)])
  await server.keepCredentials('p-team/dev', credentials(dev.url, dev.authority, dev.tokens.manager))
  await server.keepCredentials(
    'p-team/unsigned',
    credentials(unsigning.url, unsigning.authority, unsigning.tokens.manager),
  )
  // kube-apiserver fetches the public keys in the background.
  const { json } = await kubeconfig('dev', {})
  await withKubectl(json.status.kubeConfig, (kubectl) =>
    vi.waitFor(async () => expect(await kubectl.run('get', 'namespaces')).toMatchObject({ code: 0 }), forgotten),
  )
})
afterAll(async () => {
  await Promise.all([dev?.stop(), unsigning?.stop()])
  await server?.stop()
})

describe('a client certificate', () => {
  test('works with kubectl as the user and groups of the key', async () => {
    const { status, json } = await kubeconfig('dev', { clientCert: true })
    expect(status).toBe(201)
    await withKubectl(json.status.kubeConfig, async (kubectl) => {
      const whoami = await kubectl.run('auth', 'whoami', '-o', 'json')
      const { username, groups } = JSON.parse(whoami.stdout).status.userInfo
      expect([username, groups]).toEqual(['alice', ['dev', 'ops', 'system:authenticated']])
      expect((await kubectl.run('get', 'namespaces', '-o', 'name')).stdout).toContain('namespace/default')
      expect((await kubectl.run('get', 'secrets', '-A')).stderr).toContain('User "alice" cannot list')
    })
    expect(await remainingRequests(dev)).toEqual([])
  })

  test('of an administrator has the group platform:admins, never system:masters', async () => {
    const { json } = await kubeconfig('dev', { clientCert: true }, server.adminKey)
    await withKubectl(json.status.kubeConfig, async (kubectl) => {
      const { stdout } = await kubectl.run('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups}')
      expect(stdout).toBe('["platform:admins","system:authenticated"]')
    })
  })

  // kube-controller-manager signs for a year by default, and backdates long lifetimes by five minutes.
  test.each([
    ['absent', undefined, 86_400],
    ['600', 600, 600],
    ['3600', 3600, 3600],
    ['0', 0, 31_536_000],
  ])('has the requested lifetime: %s', async (_, certificateTTL, expected) => {
    const before = Date.now()
    const { status, json } = await kubeconfig('dev', {
      clientCert: true,
      ...(certificateTTL !== undefined && { certificateTTL }),
    })
    expect([status, json.message]).toEqual([201, undefined])
    const certificate = certificateOf(json.status.kubeConfig)
    const seconds = (Date.parse(certificate.validTo) - before) / 1000
    expect(seconds).toBeGreaterThan(expected - 310)
    expect(seconds).toBeLessThan(expected + 10)
    expect(Date.parse(json.status.expirationTimestamp)).toBe(Date.parse(certificate.validTo))
    expect(certificate.subject.split(/\n| \+ /).sort()).toEqual(['CN=alice', 'O=dev', 'O=ops'])
  })
})

describe('a token', () => {
  test('works with kubectl in this virtual cluster only', async () => {
    const { json } = await kubeconfig('dev', {})
    const config = load(json.status.kubeConfig) as { users: { user: { token: string } }[] }
    const token = config.users[0]?.user.token ?? ''
    await withKubectl(json.status.kubeConfig, async (kubectl) => {
      const { stdout } = await kubectl.run('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
      expect(stdout).toBe('alice')
      expect((await kubectl.run('get', 'pods')).stderr).toBe('No resources found in default namespace.\n')
    })
    expect((await dev.call('/api/v1/namespaces', { token })).status).toBe(200)
    expect((await unsigning.call('/api/v1/namespaces', { token })).status).toBe(401)
    const direct = await server.call(`${management}/directclusterendpointtokens`, {
      method: 'POST',
      body: { spec: {} },
    })
    expect((await dev.call('/api/v1/namespaces', { token: direct.json.status.token })).status).toBe(401)
  })

  test('has the scopes of its key and is revoked with it', async () => {
    const scope = {
      virtualClusters: [{ project: 'team', virtualCluster: 'dev' }],
      rules: [{ verbs: ['list'], requestTargets: ['ProjectVirtualCluster'] }],
    }
    const narrow = { ...scope, virtualClusters: [], rules: [...scope.rules, { requestTargets: ['Management'] }] }
    const tokenOf = async (key: Key) => {
      const { json } = await kubeconfig('dev', {}, key.value)
      return (load(json.status.kubeConfig) as { users: { user: { token: string } }[] }).users[0]?.user.token ?? ''
    }
    const [wide, listing] = [
      await makeKey(server, { user: 'alice', scope }),
      await makeKey(server, { user: 'alice', scope: narrow }),
    ]
    const [wideToken, token] = [await tokenOf(wide), await tokenOf(listing)]
    const status = async (path: string, of: string) => (await dev.call(path, { token: of })).status
    expect(await status('/api/v1/namespaces/default', wideToken)).toBe(200)
    expect(await status('/api/v1/namespaces', token)).toBe(200)
    expect(await status('/api/v1/namespaces/default', token)).toBe(403)
    await changeKey(server, listing, { disabled: true })
    await expect.poll(() => status('/api/v1/namespaces', token), forgotten).toBe(403)
  })

  test('can be replaced by an access key whose scope names the virtual cluster', async () => {
    const scope = { virtualClusters: [{ project: 'team', virtualCluster: 'dev' }] }
    const key = await makeKey(server, { user: 'alice', scope })
    expect((await dev.call('/api/v1/namespaces', { token: key.value })).status).toBe(200)
    expect((await unsigning.call('/api/v1/namespaces', { token: key.value })).status).toBe(401)
    expect((await dev.call('/api/v1/namespaces', { token: alice.value })).status).toBe(401)
  })
})

describe('a failure names its cause and leaves nothing behind:', () => {
  const requestFrom = async (name: string, secret?: string, address: Pick<Address, 'port' | 'authority'> = dev) => {
    await makeInstance(name, address)
    if (secret !== undefined) await server.keepCredentials(`p-team/${name}`, secret)
    const { status, json } = await kubeconfig(name, { clientCert: true })
    expect(json.message).toContain(`p-team/${name}`)
    expect(await remainingRequests(dev)).toEqual([])
    return status
  }

  test('no signer', async () => {
    const { status, json } = await kubeconfig('unsigned', { clientCert: true })
    expect([status, json.reason]).toEqual([504, 'Timeout'])
    expect(json.message).toContain('p-team/unsigned')
    expect(await remainingRequests(unsigning)).toEqual([])
  })

  test.each(['approver', 'requester'] as const)('the user is not allowed to approve: %s', async (role) => {
    expect(await requestFrom(role, credentials(dev.url, dev.authority, dev.tokens[role]))).toBe(502)
  })

  test('the user has no rights', async () => {
    const { certificate, key } = await issueClient(dev.authority, { commonName: 'nobody' }, validFor(1, Date.now()))
    const secret = {
      'certificate-authority': dev.authority.certificate,
      'client-certificate': certificate,
      'client-key': key,
    }
    expect(await requestFrom('nobody', JSON.stringify(secret))).toBe(502)
  })

  test('an unknown token', async () => {
    expect(await requestFrom('unknown', credentials(dev.url, dev.authority, 'not-a-token'))).toBe(502)
  })

  test('another certificate authority', async () => {
    const stranger = await makeAuthority('stranger', validFor(30, Date.now()))
    expect(await requestFrom('stranger', credentials(dev.url, stranger, dev.tokens.manager))).toBe(503)
  })

  test('an unreachable server', async () => {
    const nowhere = { ...dev, port: await freePort() }
    const secret = credentials(`https://127.0.0.1:${nowhere.port}`, dev.authority, dev.tokens.manager)
    expect(await requestFrom('nowhere', secret, nowhere)).toBe(503)
  })

  test('missing credentials', async () => {
    expect(await requestFrom('none')).toBe(503)
  })
})
