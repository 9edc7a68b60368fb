/**
 * Tests the API where clients reach it on AWS: below a stage, at a custom domain, and at a custom domain with a base path. A
 * proxy in front records where kubectl sends its requests: below a path of its own.
 */
import https from 'node:https'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../infra/local/gateway/routes.ts'
import { type Front, startFront } from '../support/front.ts'
import { createKubectl, describeKubectl, type Kubectl, kubeConfig, outputOf } from '../support/kubectl.ts'
import { accessKey, instance, keys } from '../support/objects.ts'
import { type Answer, type Call, request } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'

const basePath = '/kubernetes/management'

interface Place {
  name: string
  address: Address
  /** The prefix that only the proxy knows, '' for none. */
  hidden: string
}

const places: Place[] = [
  { name: 'a host of execute-api', address: { stage: 'prod' }, hidden: '' },
  { name: 'a custom domain with a base path', address: { mapping: 'prod' }, hidden: '' },
  { name: 'a custom domain behind a proxy with a path of its own', address: { mapping: '' }, hidden: '/prod' },
]

describe.each(places)('at $name', ({ address, hidden }) => {
  let server: TestServer
  let front: Front
  let agent: https.Agent
  let kubectl: Kubectl
  beforeAll(async () => {
    server = await startServer({}, { address })
    const { origin } = new URL(server.root)
    front = await startFront('/prod', { ...server, url: hidden === '' ? `${origin}/prod` : origin })
    agent = new https.Agent({ ca: front.certificateAuthority, keepAlive: true })
    kubectl = await createKubectl(kubeConfig(base(), front.certificateAuthority, server.adminKey))
  })
  afterAll(async () => {
    await kubectl?.stop()
    agent?.destroy()
    await front?.stop()
    await server?.stop()
  })

  beforeEach(() => {
    front.seen.length = 0
  })

  const ask = (url: string | URL, call: Call = {}): Promise<Answer> =>
    request(agent, String(url), { token: server.adminKey, ...call })
  const base = () => front.url + basePath
  const outside = () => front.seen.filter((line) => !/^[A-Z]+ \/prod\//.test(line))

  test('everything else is 403 Forbidden', async () => {
    const { origin } = new URL(front.url)
    for (const path of [basePath, '/apis', '/', '/dev/apis']) {
      const { status, json } = await ask(origin + path)
      expect([path, status, json]).toEqual([path, 403, { message: 'Forbidden' }])
    }
    expect(outside().length).toBe(4)
  })

  test('addresses in documents are right', async () => {
    const index = (await ask(`${base()}/openapi/v3`)).json
    for (const [path, { serverRelativeURL }] of Object.entries<{ serverRelativeURL: string }>(index.paths)) {
      // Clients prepend the path of the server to addresses below /openapi/v3: kubernetes/kubernetes#117463.
      expect(serverRelativeURL).toMatch(/^\/openapi\/v3\//)
      const document = await ask(base() + serverRelativeURL)
      expect([path, document.status, document.headers['cache-control']]).toEqual([path, 200, 'public, immutable'])
    }
    const stale = new URL(`${base()}/openapi/v3/apis/management.platform/v1?hash=stale`)
    const moved = await ask(stale)
    expect([moved.status, (await ask(new URL(String(moved.headers.location), stale))).status]).toEqual([301, 200])
    const document = (await ask(`${base()}/openapi/v3/apis/management.platform/v1`)).json
    const servers = document.servers.map(({ url }: { url: string }) => new URL(url, stale).href)
    expect(servers).toEqual([`${base()}/`])
    expect(outside()).toEqual([])
  })

  test('the issuer and its keys are below the address of the server', async () => {
    const { issuer, jwks_uri } = (await ask(`${base()}/.well-known/openid-configuration`, { token: '' })).json
    expect([issuer, jwks_uri]).toEqual([server.base, `${server.base}/openid/v1/jwks`])
    const direct = new https.Agent({ ca: server.certificateAuthority })
    expect((await request(direct, jwks_uri, { token: '' })).json.keys).toHaveLength(1)
    direct.destroy()
  })

  test('an unserved path is named without the stage or the base path', async () => {
    const { spec } = await server.make(
      keys,
      accessKey('narrow', { user: 'alice', scope: { projects: [{ project: 'a' }] } }),
    )
    for (const token of [server.adminKey, spec.key]) {
      const { json } = await ask(`${base()}/nothing`, { token })
      expect(json.message).toContain('nothing is served at "/nothing"; GET /apis lists the API groups')
    }
  })

  // Each address looks the same to kubectl: a stage, and the base path below it.
  if (hidden === '') return

  describeKubectl('kubectl sends no request elsewhere', () => {
    const feed = (object: object, ...args: string[]) => kubectl.feed(JSON.stringify(object), ...args, '-f', '-')
    const run = (...args: string[]) => kubectl.run(...args)
    const applied = (spec: object) => accessKey('applied', { user: 'alice', ttl: 3600, ...spec })

    test('when it reads the documents', async () => {
      expect((await run('api-resources')).stdout).toMatch(/^ownedaccesskeys .* management\.platform\/v1 /m)
      expect((await run('explain', 'ownedaccesskeys.spec')).stdout).toContain('displayName')
      expect((await run('explain', 'vci', '--output=plaintext-openapiv2')).stdout).toContain('VirtualClusterInstance')
      expect((await run('version')).stdout).toContain('Server Version: v1.34')
      expect(front.seen.some((line) => line.includes('/openapi/v3/apis/management.platform/v1?hash='))).toBe(true)
      expect(outside()).toEqual([])
    })

    test('when it writes', async () => {
      expect(await feed(accessKey('made', { user: 'alice', ttl: 3600 }), 'create')).toEqual(outputOf('made', 'created'))
      expect(await feed(applied({}), 'apply')).toEqual(outputOf('applied', 'created'))
      const diff = await feed(applied({ displayName: 'new' }), 'diff')
      expect([diff.code, diff.stdout]).toEqual([1, expect.stringContaining('displayName: new')])
      expect(await feed(applied({ displayName: 'new' }), 'apply')).toEqual(outputOf('applied', 'configured'))
      const ours = accessKey('server-side', { user: 'alice', ttl: 3600 })
      expect(await feed(ours, 'apply', '--server-side')).toEqual(outputOf('server-side', 'serverside-applied'))
      const merged = await run('patch', 'ownedaccesskey', 'made', '--type=merge', '-p', '{"spec":{"ttl":60}}')
      expect(merged).toEqual(outputOf('made', 'patched'))
      const editor = await kubectl.file('editor', '#!/bin/sh\nsed -i "s/ttl: 60/ttl: 90/" "$1"\n')
      const edited = await kubectl.runWith({ KUBE_EDITOR: `sh "${editor}"` }, 'edit', 'ownedaccesskey', 'made')
      expect(edited).toEqual(outputOf('made', 'edited'))
      expect((await run('get', 'ownedaccesskey', 'made', '-o=jsonpath={.spec.ttl}')).stdout).toBe('90')
      expect((await run('label', 'ownedaccesskey', 'made', 'a=b')).stdout).toContain('made labeled')
      const made = await kubectl.file('made.json', (await ask(`${base()}${keys}/made`)).json)
      expect(await run('replace', '-f', made)).toEqual(outputOf('made', 'replaced'))
      expect((await feed(instance('vc'), 'create', '-n', 'p-front')).stdout).toContain('/vc created')
      expect((await run('delete', 'vci', '--all', '-n', 'p-front')).stdout).toContain('"vc" deleted')
      expect(outside()).toEqual([])
    })

    test('when it lists, watches and waits', async () => {
      const watch = kubectl.start('get', 'ownedaccesskeys', '-w', '-o', 'name')
      await watch.until(/admin-/)
      expect(await feed(accessKey('watched', { user: 'alice', ttl: 3600 }), 'create')).toEqual(
        outputOf('watched', 'created'),
      )
      await watch.until(/watched/)
      await watch.end()
      const waited = await run('wait', 'ownedaccesskey/watched', '--for=jsonpath={.spec.user}=alice')
      expect(waited.stdout).toContain('condition met')
      expect((await run('delete', 'ownedaccesskey', 'watched')).stdout).toContain('"watched" deleted')
      expect(outside()).toEqual([])
    })

    // kubectl before 1.35 drops the path of the server's address.
    if (hidden !== '') {
      test('with a raw path, at the root of a custom domain', async () => {
        const direct = await createKubectl(kubeConfig(server.base, server.certificateAuthority, server.adminKey))
        const { stdout } = await direct.run('get', '--raw', `${keys}?limit=1`)
        expect(JSON.parse(stdout)).toMatchObject({ kind: 'OwnedAccessKeyList', items: [{ kind: 'OwnedAccessKey' }] })
        await direct.stop()
      })
    }

    test('when it asks for permissions', async () => {
      expect((await run('auth', 'can-i', 'create', 'ownedaccesskeys')).stdout).toBe('yes\n')
      expect((await run('auth', 'can-i', 'get', '/apis')).stdout).toBe('yes\n')
      expect((await run('auth', 'can-i', '--list')).stdout).toContain('ownedaccesskeys')
      expect((await run('auth', 'whoami')).stdout).toContain('admin')
      expect(outside()).toEqual([])
    })
  })
})
