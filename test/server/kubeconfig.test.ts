/**
 * Tests the way from an access key to a virtual cluster. An administrator creates a key for alice, who fetches the kube
 * config of p-demo/demo with a YAML body (specification 4.1) and uses it in the virtual cluster.
 */
import { X509Certificate } from 'node:crypto'
import https from 'node:https'
import { json } from 'node:stream/consumers'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rows } from '../support/columns.ts'
import { type DemoCluster, startDemoCluster } from '../support/democluster.ts'
import { createKubectl, describeKubectl, type Kubectl } from '../support/kubectl.ts'
import { accessKey, instances, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { parseYaml } from '../support/yaml.ts'

const demo = `${instances('p-demo')}/demo`

let server: TestServer
let cluster: DemoCluster
let aliceKey: string
let uid: string

/** Creates a key for this user. */
const keyFor = async (name: string, spec: object): Promise<string> =>
  (await server.make(keys, accessKey(name, spec))).spec.key

/** As curl sends it: `--data-binary @- -H 'Content-Type: application/yaml'`. */
const fetchConfig = (spec: string, { token = aliceKey, path = demo, accept = '*/*' } = {}) =>
  server.call(`${path}/kubeconfig`, {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/yaml', accept, 'user-agent': 'curl/8.0' },
    body: `apiVersion: management.platform/v1
kind: VirtualClusterInstanceKubeConfig
metadata:
  namespace: p-demo
spec: ${spec}
`,
  })

async function configOf(spec: string, options = {}) {
  const { status, json, headers } = await fetchConfig(spec, options)
  expect([status, json?.message]).toEqual([201, undefined])
  const config = await parseYaml(json.status.kubeConfig)
  return { config, user: config.users[0].user, text: json.status.kubeConfig, expires: json.status, headers }
}
const secondsUntil = (time: string) => (Date.parse(time) - Date.now()) / 1000

beforeAll(async () => {
  server = await startServer()
  cluster = await startDemoCluster(server)
  uid = cluster.uid
  aliceKey = await keyFor('alice', { user: 'alice', groups: ['dev'], team: 'ops' })
}, 120_000)
afterAll(async () => {
  await server?.stop()
  await cluster?.close()
})

describe('a kube config with a token', () => {
  test('returns the kind, the identity of the instance, the kube config and its expiry', async () => {
    const { status, json } = await fetchConfig('{}')
    expect(status).toBe(201)
    expect(json).toMatchObject({
      apiVersion: 'management.platform/v1',
      kind: 'VirtualClusterInstanceKubeConfig',
      metadata: { name: 'demo', namespace: 'p-demo', uid },
      spec: {},
    })
    const config = await parseYaml(json.status.kubeConfig)
    expect(config).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'demo.p-demo',
      contexts: [{ name: 'demo.p-demo', context: { cluster: 'demo.p-demo', user: 'demo.p-demo' } }],
      clusters: [
        { name: 'demo.p-demo', cluster: { server: cluster.url, 'certificate-authority-data': expect.any(String) } },
      ],
      users: [{ name: 'demo.p-demo', user: { token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) } }],
    })
    const authority = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString()
    expect(authority.trim()).toBe(cluster.certificateAuthority.trim())
    expect(json.status.expirationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  })

  test('is valid for this virtual cluster and not for requests to this API', async () => {
    const { user } = await configOf('{}')
    expect(decodeJwt(user.token).aud).toEqual([`${server.base}/virtualclusters/p-demo/demo/${uid}`])
    expect((await server.call(keys, { token: user.token })).status).toBe(401)
  })
})

/** Returns the certificate signing requests in the virtual cluster. */
const requests = () =>
  new Promise<unknown[]>((resolve, reject) => {
    const url = `${cluster.url}/apis/certificates.k8s.io/v1/certificatesigningrequests`
    const headers = { authorization: `Bearer ${cluster.token.manager}` }
    https
      .get(url, { headers, ca: cluster.certificateAuthority }, async (response) => {
        resolve(((await json(response)) as { items: unknown[] }).items)
      })
      .on('error', reject)
  })

describe('a kube config with a client certificate', () => {
  const certificateOf = (user: Record<string, string>) =>
    new X509Certificate(Buffer.from(user['client-certificate-data'] ?? '', 'base64'))

  test('names the user, its groups and its key, and leaves nothing behind', async () => {
    const { user } = await configOf('{clientCert: true, certificateTTL: 3600}')
    const certificate = certificateOf(user)
    expect(user).not.toHaveProperty('token')
    expect(certificate.subject.split('\n').sort()).toEqual(['CN=alice', 'O=dev', 'O=team:ops'])
    expect(secondsUntil(new Date(certificate.validTo).toISOString())).toBeLessThanOrEqual(3600)
    const key = Buffer.from(user['client-key-data'], 'base64').toString()
    expect(key).toMatch(/^-----BEGIN (EC )?PRIVATE KEY-----/)
    expect(await requests()).toEqual([])
  })
})

test('contains spec.server, to which the server opens no connection', async () => {
  const { config } = await configOf('{clientCert: true, server: "https://unreachable.invalid"}')
  expect(config.clusters[0].cluster.server).toBe('https://unreachable.invalid')
})

describe('a rejected kube config', () => {
  test('is rejected for another user, another instance and without a key', async () => {
    const bob = await keyFor('bob', { user: 'bob' })
    const other = `${instances('p-demo')}/other`
    const answers = await Promise.all([
      fetchConfig('{}', { token: bob }),
      fetchConfig('{}', { path: other }),
      fetchConfig('{}', { token: '' }),
      fetchConfig('{}', { path: `${instances('p-other')}/demo` }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 401, 400])
    expect(answers[0]?.json.message).toBe(answers[1]?.json.message.replace('other', 'demo'))
  })
})

describeKubectl('kubectl with the fetched kube config', () => {
  const using = async <T>(spec: string, work: (kubectl: Kubectl) => Promise<T>): Promise<T> => {
    const kubectl = await createKubectl((await configOf(spec)).text)
    try {
      return await work(kubectl)
    } finally {
      await kubectl.stop()
    }
  }

  test.each([{ spec: '{}' }, { spec: '{clientCert: true}' }])(
    'lists the pods as alice with $spec',
    async ({ spec }) => {
      await using(spec, async (kubectl) => {
        const [pods, who] = await Promise.all([kubectl.run('get', 'pods'), kubectl.run('auth', 'whoami', '-o', 'json')])
        expect(pods.stderr).toBe('')
        expect(rows(pods.stdout).map(({ NAME, STATUS }) => [NAME, STATUS])).toEqual([
          ['hello-0', 'Running'],
          ['hello-1', 'Running'],
        ])
        const { username, groups } = JSON.parse(who.stdout).status.userInfo
        expect([username, groups]).toEqual(['alice', ['dev', 'team:ops', 'system:authenticated']])
      })
    },
  )

  test('rejects a token when its key is deleted', async () => {
    const token = await keyFor('revoked', { user: 'alice' })
    const kubectl = await createKubectl((await configOf('{}', { token })).text)
    try {
      expect((await kubectl.run('get', 'pods', '-o', 'name')).stdout).toBe('pod/hello-0\npod/hello-1\n')
      await server.call(`${keys}/revoked`, { method: 'DELETE' })
      const { code, stderr } = await kubectl.run('get', 'pods')
      expect([code, stderr]).toEqual([1, expect.stringMatching(/Forbidden|forbidden|Unauthorized/)])
    } finally {
      await kubectl.stop()
    }
  })
})
