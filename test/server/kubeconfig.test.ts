/** Tests the kube config that alice fetches of p-demo/demo with a YAML body (specification 4.1). */
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DemoCluster, startDemoCluster } from '../support/democluster.ts'
import { instances, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { parseYaml } from '../support/yaml.ts'

const demo = `${instances('p-demo')}/demo`

let server: TestServer
let cluster: DemoCluster
let aliceKey: string
let uid: string

/** Returns the kube config that alice gets, as curl asks for it: `--data-binary @- -H 'Content-Type: application/yaml'`. */
async function configOf(spec: string) {
  const { status, json } = await server.call(`${demo}/kubeconfig`, {
    method: 'POST',
    token: aliceKey,
    headers: { 'content-type': 'application/yaml', accept: '*/*', 'user-agent': 'curl/8.0' },
    body: `apiVersion: management.platform/v1
kind: VirtualClusterInstanceKubeConfig
metadata:
  namespace: p-demo
spec: ${spec}
`,
  })
  expect([status, json?.message]).toEqual([201, undefined])
  return parseYaml(json.status.kubeConfig)
}

beforeAll(async () => {
  server = await startServer()
  cluster = await startDemoCluster(server)
  uid = cluster.uid
  aliceKey = (await server.makeKey({ user: 'alice', groups: ['dev'], team: 'ops' })).token
}, 120_000)
afterAll(async () => {
  await server?.stop()
  await cluster?.close()
})

describe('a kube config with a token', () => {
  test('is valid for this virtual cluster and not for requests to this API', async () => {
    const { users } = await configOf('{}')
    const { token } = users[0].user
    expect(decodeJwt(token).aud).toEqual([`${server.base}/virtualclusters/p-demo/demo/${uid}`])
    expect((await server.call(keys, { token })).status).toBe(401)
  })
})

test('contains spec.server, to which the server opens no connection', async () => {
  const { clusters } = await configOf('{clientCert: true, server: "https://unreachable.invalid"}')
  expect(clusters[0].cluster.server).toBe('https://unreachable.invalid')
})
