import { X509Certificate } from 'node:crypto'
import { KubeConfig } from '@kubernetes/client-node'
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { verifyOwnToken } from '../../../infra/local/virtualcluster/verifytoken.ts'
import type { UserInfo } from '../../../lib/access/users/user.ts'
import { createClusterClient } from '../../../lib/clusters/cluster/client.ts'
import { toBase64 } from '../../../lib/clusters/cluster/pem.ts'
import type { Instance } from '../../../lib/clusters/instance.ts'
import { createKubeConfig } from '../../../lib/clusters/kubeconfig.ts'
import { type Secrets as AllSecrets, SecretError } from '../../../lib/clusters/secrets.ts'
import { jwksDocument } from '../../../lib/clusters/token/jwks.ts'
import {
  type VirtualClusterRequest,
  type VirtualClusterServices,
  virtualCluster,
} from '../../../lib/clusters/virtualcluster.ts'
import { endless } from '../../support/deadlines.ts'
import { testAuthority } from './authority.ts'
import { type ClusterOptions, type FaultyCluster, useFaultyClusters } from './faultycluster.ts'
import { localSigner } from './token/localsigner.ts'

const issuer = 'https://api.example.com'
const now = new Date()
const seconds = Math.floor(now.getTime() / 1000)

const instance: Instance = {
  namespace: 'p-shop',
  name: 'dev',
  uid: 'uid-1',
  host: 'dev.example.com',
  secretReference: 'p-shop/dev',
}
const user = (changes: Partial<UserInfo> = {}): UserInfo => ({
  name: 'ci',
  groups: ['ops', 'system:authenticated'],
  key: { name: 'ci-key', uid: 'key-uid', type: 'User' },
  chain: [],
  ...changes,
})

let signer: Awaited<ReturnType<typeof localSigner>>
beforeAll(async () => {
  signer = await localSigner()
})

const clusters = useFaultyClusters()
let cluster: FaultyCluster
const start = async (options: Partial<ClusterOptions> = {}) => {
  cluster = await clusters.start(options)
}
beforeEach(() => start())

/** Simulates the parts of Secrets Manager that a kube config needs. */
type Secrets = Pick<AllSecrets, 'get' | 'refresh'>

/** The secret of the instance before and after a rotation. */
function secretsOf(texts: { kept?: string; now?: string }): Secrets & { read: string[] } {
  const read: string[] = []
  const returnText = (text: string | undefined) => (id: string) => {
    read.push(id)
    return text === undefined ? Promise.reject(new SecretError('NotFound', undefined)) : Promise.resolve(text)
  }
  return { read, get: returnText(texts.kept), refresh: returnText(texts.now ?? texts.kept) }
}

const secretText = (token = cluster.credentials.token) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: { server: cluster.url, 'certificate-authority-data': toBase64(clusters.authority.certificate) },
      },
    ],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })

function services(changes: Partial<VirtualClusterServices> = {}): VirtualClusterServices {
  return {
    projectNamespacePrefix: 'p-',
    limits: { maxTokenSeconds: 604_800 },
    issuer,
    signer,
    secrets: secretsOf({ kept: secretText() }),
    secretPrefix: 'keyplane/dev/virtualclusters/',
    connect: createClusterClient,
    clock: () => now,
    deadline: () => new AbortController().signal,
    sleep: async () => undefined,
    uuid: () => 'uuid',
    ...changes,
  }
}

type Asked = Partial<VirtualClusterRequest> & { dryRun?: boolean }

async function ask({ dryRun = false, ...request }: Asked = {}, changes: Partial<VirtualClusterServices> = {}) {
  const whole = { instance, spec: {}, user: user(), now, deadline: endless, ...request }
  return createKubeConfig(virtualCluster(whole, services(changes)), { user: whole.user, issuer, dryRun })
}

async function createConfig(
  request: Partial<VirtualClusterRequest> = {},
  changes: Partial<VirtualClusterServices> = {},
) {
  const result = await ask(request, changes)
  if ('errors' in result || result.kubeConfig === undefined) throw new Error(JSON.stringify(result))
  const config = new KubeConfig()
  config.loadFromString(result.kubeConfig)
  return { ...result, config, cluster: config.getCurrentCluster(), user: config.getCurrentUser() }
}

const refusalOf = (request: Asked, changes: Partial<VirtualClusterServices> = {}) =>
  ask(request, changes).then(
    () => undefined,
    (error) => error.status,
  )

describe('with a token', () => {
  test('has the virtual cluster, its authority and a token for it only', async () => {
    const { config, ...result } = await createConfig()
    expect(config.getCurrentContext()).toBe('dev.p-shop@api.example.com')
    expect(result.cluster).toMatchObject({ name: 'dev.p-shop@api.example.com', server: 'https://dev.example.com' })
    expect(Buffer.from(result.cluster?.caData ?? '', 'base64').toString()).toBe(clusters.authority.certificate)
    const claims = await verifyOwnToken(result.user?.token ?? '', await jwksDocument(signer), {
      issuer,
      audience: `${issuer}/virtualclusters/p-shop/dev/uid-1`,
      now,
    })
    expect(claims).toMatchObject({ sub: 'ci', groups: ['ops'], exp: seconds + 86_400 })
    expect(result.expirationTimestamp).toBe(new Date((seconds + 86_400) * 1000).toISOString().replace('.000', ''))
    expect(result.warnings).toEqual([])
    expect(cluster.calls).toEqual([])
  })

  test('lasts the maximum for 0, limited to the lifetime of the key', async () => {
    const key = { ...user().key, expires: seconds + 60 }
    const result = await createConfig({ spec: { certificateTTL: 0 }, user: user({ key }) })
    expect(result.warnings).toEqual([
      'spec.certificateTTL: 0 asks for the longest validity that the deployment allows, 604800 seconds',
      'requested expiration of 604800 seconds shortened to 60 seconds',
    ])
    expect(Date.parse(result.expirationTimestamp ?? '')).toBe((seconds + 60) * 1000)
  })

  test('passes on the scope of a scoped key', async () => {
    const chain = [{ rules: [{ verbs: ['get'] }] }]
    const result = await createConfig({ user: user({ chain }) })
    const [, payload = ''] = (result.user?.token ?? '').split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    expect(JSON.parse(claims['management.platform'].scopes)).toEqual(chain)
  })

  test('prefers the authority of the instance and then does not read the secret', async () => {
    const other = await testAuthority('ingress')
    const secrets = secretsOf({})
    const certificateAuthorityData = toBase64(other.certificate)
    const result = await createConfig({ instance: { ...instance, certificateAuthorityData } }, { secrets })
    expect(result.cluster?.caData).toBe(certificateAuthorityData)
    expect(secrets.read).toEqual([])
  })

  test('relies on public authorities without an authority', async () => {
    const result = await createConfig({}, { secrets: secretsOf({}) })
    expect(result.cluster?.caData).toBeUndefined()
  })

  test('signs nothing after the deadline', async () => {
    const sign = vi.fn()
    expect(await refusalOf({ deadline: () => 0 }, { signer: { ...signer, sign } })).toMatchObject({ code: 504 })
    expect(sign).not.toHaveBeenCalled()
  })
})

describe('with a client certificate', () => {
  const spec = { clientCert: true, certificateTTL: 3600 }

  test('is signed by the virtual cluster, which keeps no request', async () => {
    const result = await createConfig({
      spec,
      user: user({ groups: ['ops', 'system:masters', 'system:authenticated'] }),
    })
    const certificate = new X509Certificate(Buffer.from(result.user?.certData ?? '', 'base64'))
    expect(certificate.subject).toBe('O=ops\nO=platform:admins\nCN=ci')
    expect(Buffer.from(result.user?.keyData ?? '', 'base64').toString()).toContain('BEGIN PRIVATE KEY')
    expect(result.user?.token).toBeUndefined()
    expect(Date.parse(result.expirationTimestamp ?? '')).toBe(certificate.validToDate.getTime())
    expect([result.warnings, cluster.stored.size]).toEqual([[], 0])
    expect(cluster.calls[0]?.body).toMatchObject({
      metadata: {
        labels: { 'app.kubernetes.io/managed-by': 'keyplane', 'management.platform/access-key-uid': 'key-uid' },
      },
      spec: { expirationSeconds: 3600 },
    })
  })

  test('lasts a day by default and requests no duration for 0', async () => {
    await createConfig({ spec: { clientCert: true } })
    expect(cluster.calls[0]?.body).toHaveProperty('spec.expirationSeconds', 86_400)
    await start()
    await createConfig({ spec: { clientCert: true, certificateTTL: 0 } })
    expect(cluster.calls[0]?.body).not.toHaveProperty('spec.expirationSeconds')
  })

  test('warns if it is shorter than requested or outlives its key', async () => {
    await start({ signed: { notAfter: new Date(now.getTime() + 7_200_000) } })
    const key = { ...user().key, expires: seconds + 60 }
    const { warnings } = await createConfig({ spec: { clientCert: true }, user: user({ key }) })
    expect(warnings).toEqual([
      expect.stringMatching(/^requested expiration of 86400 seconds shortened to 7(199|200) seconds$/),
      expect.stringMatching(
        /^the certificate is valid until \S+Z and cannot be revoked; its access key expires at \S+Z: the deployment setting max-certificate-ttl-seconds limits certificates$/,
      ),
    ])
  })

  test('throws 403 only for a scope that restricts inside the virtual cluster', async () => {
    expect(await refusalOf({ spec, user: user({ chain: [{ rules: [{ verbs: ['get'] }] }] }) })).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'virtualclusterinstances/kubeconfig.management.platform "dev" is forbidden: a client certificate cannot be scoped, and the scope of the access key restricts what it may do there',
    })
    expect(cluster.calls).toEqual([])
    await createConfig({ spec, user: user({ chain: [{ projects: [{ project: 'shop' }] }] }) })
  })

  // threat: use-6
  test('approves nothing after the deadline and deletes the request', async () => {
    let left = 20_000
    const connect: typeof createClusterClient = (...given) => {
      const client = createClusterClient(...given)
      return { ...client, send: (request) => client.send(request).finally(() => (left = 0)) }
    }
    expect(await refusalOf({ spec, deadline: () => left }, { connect })).toMatchObject({ code: 504 })
    expect([cluster.calls.map(({ step }) => step), cluster.stored.size]).toEqual([['create', 'delete'], 0])
  })

  test('rereads rotated credentials once', async () => {
    const secrets = secretsOf({ kept: secretText('old'), now: secretText() })
    await createConfig({ spec }, { secrets })
    expect(secrets.read).toEqual(Array(2).fill('keyplane/dev/virtualclusters/p-shop/dev'))
    const stale = secretsOf({ kept: secretText('old') })
    let connections = 0
    const connect: typeof createClusterClient = (...given) => {
      connections++
      return createClusterClient(...given)
    }
    expect(await refusalOf({ spec }, { secrets: stale, connect })).toMatchObject({
      code: 502,
      message: 'virtual cluster "p-shop/dev" does not accept the stored credentials',
    })
    expect([connections, stale.read.length]).toEqual([1, 2])
  })

  test('does not reread rejected credentials after the deadline', async () => {
    const controller = new AbortController()
    await start({
      plays: {
        approve: ({ answer }) => answer(401, {}),
        delete: ({ proceed }) => {
          controller.abort()
          return proceed()
        },
      },
    })
    const secrets = secretsOf({ kept: secretText(), now: secretText('new') })
    expect(await refusalOf({ spec }, { secrets, deadline: () => controller.signal })).toMatchObject({ code: 502 })
    expect([secrets.read.length, cluster.calls.map(({ step }) => step)]).toEqual([1, ['create', 'approve', 'delete']])
  })

  test('respects the maximum of the deployment', async () => {
    const limits = { maxTokenSeconds: 604_800, maxCertificateSeconds: 7200 }
    await createConfig({ spec }, { limits })
    await start({ signed: { notAfter: new Date(now.getTime() + 86_400_000) } })
    expect(await refusalOf({ spec }, { limits })).toMatchObject({ code: 502 })
  })

  test.each<[string, Partial<Instance>, Secrets | undefined, number, string]>([
    [
      'a missing secret',
      {},
      secretsOf({}),
      503,
      'virtual cluster "p-shop/dev" has no stored credentials: an administrator must store its kube config in AWS Secrets Manager, as the secret "',
    ],
    [
      'a secret that cannot be read at the moment',
      {},
      { ...secretsOf({}), get: () => Promise.reject(new SecretError('Unavailable', 'hunter2')) },
      503,
      'virtual cluster "p-shop/dev" has stored credentials that cannot be read at the moment',
    ],
    [
      'a secret outside the prefix',
      { secretReference: '../pepper' },
      undefined,
      503,
      'virtual cluster "p-shop/dev" has unusable credentials: spec.credentialsSecretRef.secretName',
    ],
    [
      'an invalid certificate authority',
      { certificateAuthorityData: 'AAAA' },
      undefined,
      503,
      'virtual cluster "p-shop/dev" has unusable credentials: spec.certificateAuthorityData contains no certificate',
    ],
  ])('throws 503 for %s', async (_, changes, secrets, code, message) => {
    const status = await refusalOf({ spec, instance: { ...instance, ...changes } }, secrets && { secrets })
    expect(status).toMatchObject({ code })
    expect(status.message).toContain(message)
    expect(status.message).not.toContain('hunter2')
    expect(cluster.calls).toEqual([])
  })

  // threat: virtual-10
  test.each([{}, { clientCert: true }, { exec: { command: 'a' } }])(
    'says the same for an invalid certificate authority in a dry run with %j',
    async (spec) => {
      const request = { spec, instance: { ...instance, certificateAuthorityData: 'AAAA' } }
      const [status, dry] = [await refusalOf(request), await refusalOf({ ...request, dryRun: true })]
      expect(status.message).toContain('contains no certificate')
      expect(dry).toEqual(status)
    },
  )
})

describe('with either credential', () => {
  // threat: virtual-9
  test.each([true, false])(
    'uses the requested address, to which it opens no connection: clientCert %j',
    async (clientCert) => {
      const result = await createConfig({ spec: { clientCert, server: 'https://tunnel.invalid:9443/x' } })
      expect(result.cluster?.server).toBe('https://tunnel.invalid:9443/x')
    },
  )

  test.each([true, false])('returns all field errors together (clientCert %j)', async (clientCert) => {
    const result = await ask({ spec: { clientCert, certificateTTL: 59, server: 'x' } })
    expect(result).toMatchObject({ errors: [{ field: 'spec.certificateTTL' }, { field: 'spec.server' }] })
  })

  test.each([true, false])('throws 400 without an address (clientCert %j)', async (clientCert) => {
    const { host: _, ...without } = instance
    expect(await refusalOf({ instance: without, spec: { clientCert } })).toMatchObject({ code: 400 })
  })

  test.each([true, false])('throws 403 for a user that clusters must not see (clientCert %j)', async (clientCert) => {
    expect(await refusalOf({ user: user({ name: 'system:admin' }), spec: { clientCert } })).toMatchObject({ code: 403 })
  })

  test.each([true, false])('validates a dry run and creates nothing (clientCert %j)', async (clientCert) => {
    const secrets = secretsOf({ kept: secretText() })
    const untouched = { ...signer, sign: () => Promise.reject(new Error('signed')) }
    const changes = { secrets, signer: untouched }
    expect(await ask({ dryRun: true, spec: { clientCert } }, changes)).toEqual({
      warnings: [],
      facts: { credential: clientCert ? 'certificate' : 'token' },
    })
    expect(await ask({ dryRun: true, spec: { clientCert, certificateTTL: 1 } }, changes)).toHaveProperty('errors')
    const chain = [{}]
    if (clientCert)
      expect(await refusalOf({ dryRun: true, spec: { clientCert }, user: user({ chain }) }, changes)).toMatchObject({
        code: 403,
      })
    expect(secrets.read).toEqual([])
    expect(cluster.calls).toEqual([])
  })
})
