/**
 * Tests that the keys with which API servers ask for reviews rotate by themselves, as docs/rotation.md says: one key for each node of the control
 * plane, with the command of the page. Only a real kube-apiserver can say when it reads its file again.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type CommandLine, createCommandLine } from '../clients/cli/commandline.ts'
import { patience } from '../support/patience.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { directToken, type Key, makeKey, management } from './keys.ts'
import { chooseAddress, type Plane, startPlane } from './planes.ts'

const NAMESPACES = '/api/v1/namespaces'
/** API servers read the file again after a minute, and forget answers after three seconds. */
const READ_AGAIN_MS = 75_000

let server: TestServer
let cli: CommandLine
let token: string
const planes: Plane[] = []

const agentKey = () =>
  makeKey(server, {
    user: 'agent-eu',
    scope: { roles: [{ role: 'agent' }, { role: 'selfRotate' }], clusters: [{ cluster: 'eu' }] },
  })

/** Starts the API server of a node with its key, and waits until it answers a user of keyplane. */
async function startNode({ value }: Key): Promise<Plane> {
  const place = 'clusters/eu'
  const plane = await startPlane(server, await chooseAddress(), { place, accessKey: value, signs: false })
  planes.push(plane)
  const rbac = 'rbac.authorization.k8s.io'
  const body = {
    ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name: 'alice' } },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'alice' }],
  }
  await plane.call(`/apis/${rbac}/v1/clusterrolebindings`, plane.certificate, { method: 'POST', body })
  const answers = async () => expect(await statusAt(plane)).toBe(200)
  await vi.waitFor(answers, { ...patience, interval: 500 })
  return plane
}

const statusAt = async (plane: Plane) => (await plane.call(NAMESPACES, { token })).status

beforeAll(async () => {
  server = await startServer()
  cli = await createCommandLine(server)
  token = await directToken(server, await makeKey(server, { user: 'alice' }), {
    scope: { clusters: [{ cluster: 'eu' }] },
  })
})
afterAll(async () => {
  for (const plane of planes) await plane.stop()
  await cli?.stop()
  await server?.stop()
})

test('no review is lost while the key of each node rotates by itself, and one node is off', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/rotation.md'), 'utf8')
  const [, script = ''] = /^ExecStart=keyplane rotate agent-eu-1 -- sh -c '(.*)'$/m.exec(page) ?? []
  const keys = [await agentKey(), await agentKey(), await agentKey()] as const
  const running = [await startNode(keys[0]), await startNode(keys[1])]

  const seen = new Map<number, number>()
  let isOver = false
  const asking = (async () => {
    while (!isOver) {
      for (const status of await Promise.all(running.map(statusAt))) seen.set(status, (seen.get(status) ?? 0) + 1)
      await delay(500)
    }
  })()
  for (const [index, { accessKeyFile }] of running.entries()) {
    const env = { KEYPLANE_KEY: undefined, KEYPLANE_KEY_FILE: accessKeyFile }
    const { code, stderr } = await cli.spawn(['rotate', keys[index]?.name ?? '', '--', 'sh', '-c', script], { env })
    expect([code, stderr]).toEqual([0, expect.any(String)])
    expect(await readFile(accessKeyFile, 'utf8')).not.toContain(keys[index]?.value)
  }
  await delay(READ_AGAIN_MS)
  // From here on the old values are refused: the overlap of an hour would end by itself.
  for (const { name } of keys.slice(0, 2)) {
    const path = `${management}/ownedaccesskeys/${name}/rotate`
    expect((await server.post(path, { spec: { finish: true } })).status).toBe(201)
  }
  await delay(10_000)
  isOver = true
  await asking
  expect([...seen.keys()]).toEqual([200])
  // The node that was off has missed nothing.
  await startNode(keys[2])
})
