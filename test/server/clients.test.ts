/** Tests the Kubernetes JavaScript client, whose code is generated from the API of a real kube-apiserver. */
import {
  type ApiException,
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  VersionApi,
  Watch,
} from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubeConfig } from '../support/kubectl.ts'
import { accessKey, instance, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

interface AccessKey extends KubernetesObject {
  spec: { user?: string; displayName?: string; key?: string; disabled?: boolean }
  status?: { owner: string; phase: string }
}

const gvr = { group: 'management.platform', version: 'v1', plural: 'ownedaccesskeys' }

let server: TestServer
let config: KubeConfig
let custom: CustomObjectsApi
let objects: KubernetesObjectApi

beforeAll(async () => {
  server = await startServer()
  config = new KubeConfig()
  config.loadFromString(JSON.stringify(kubeConfig(server.base, server.certificateAuthority, server.adminKey)))
  custom = config.makeApiClient(CustomObjectsApi)
  objects = KubernetesObjectApi.makeApiClient(config)
}, 120_000)
afterAll(() => server?.stop())

const key = (name: string, spec: AccessKey['spec'] = {}, labels: Record<string, string> = {}): AccessKey => ({
  ...accessKey(name, {}, { labels }),
  spec: { user: 'alice', ...spec },
})
const codeOf = (action: Promise<unknown>): Promise<number> =>
  action.then(
    () => 200,
    (error: ApiException<unknown>) => error.code,
  )

describe('CustomObjectsApi', () => {
  test('creates, reads, lists, replaces and deletes objects', async () => {
    const created: AccessKey = await custom.createClusterCustomObject({ ...gvr, body: key('custom') })
    expect(created.spec.key).toMatch(/^mpk_/)
    const read: AccessKey = await custom.getClusterCustomObject({ ...gvr, name: 'custom' })
    expect(read.spec).toEqual({ user: 'alice' })
    const list: KubernetesListObject<AccessKey> = await custom.listClusterCustomObject({
      ...gvr,
      fieldSelector: 'metadata.name=custom',
    })
    expect(list.items).toEqual([read])
    const body = { ...read, spec: { ...read.spec, displayName: 'replaced' } }
    const replaced: AccessKey = await custom.replaceClusterCustomObject({ ...gvr, name: 'custom', body })
    expect([replaced.spec.displayName, replaced.metadata?.generation]).toEqual(['replaced', 2])
    expect(await codeOf(custom.replaceClusterCustomObject({ ...gvr, name: 'custom', body }))).toBe(409)
    await custom.deleteClusterCustomObject({ ...gvr, name: 'custom' })
    expect(await codeOf(custom.getClusterCustomObject({ ...gvr, name: 'custom' }))).toBe(404)
  })

  test('writes the status of an object in a namespace', async () => {
    const vci = { group: gvr.group, version: gvr.version, plural: 'virtualclusterinstances', namespace: 'p-client' }
    await custom.createNamespacedCustomObject({ ...vci, body: instance('vc', { owner: { user: 'alice' } }) })
    const status = { status: { phase: 'Ready' } }
    const options = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
    await custom.patchNamespacedCustomObjectStatus({ ...vci, name: 'vc', body: status }, options)
    const read = await custom.getNamespacedCustomObjectStatus({ ...vci, name: 'vc' })
    expect(read.status).toEqual({ canUse: true, phase: 'Ready' })
    const deleted = await custom.deleteCollectionNamespacedCustomObject(vci)
    expect(deleted.items).toHaveLength(1)
  })

  test('creates kinds that are answered and not stored', async () => {
    const answer = await custom.createClusterCustomObject({
      ...gvr,
      plural: 'directclusterendpointtokens',
      body: { apiVersion: 'management.platform/v1', kind: 'DirectClusterEndpointToken', spec: { ttl: 600 } },
    })
    expect(answer.status.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  })
})

describe('KubernetesObjectApi', () => {
  test('discovers the resource of a kind', async () => {
    const created = await objects.create(key('object'))
    expect(created.spec.key).toMatch(/^mpk_/)
    const header = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata: { name: 'object' } }
    const read = await objects.read<AccessKey>(header)
    expect(read.status).toMatchObject({ owner: 'alice', phase: 'Active' })
    const list = await objects.list<AccessKey>('management.platform/v1', 'OwnedAccessKey')
    expect(list.items.map(({ metadata }) => metadata?.name)).toContain('object')
    const replaced = await objects.replace({ ...read, spec: { ...read.spec, disabled: true } })
    expect(replaced.status?.phase).toBe('Disabled')
    expect(await objects.delete(header)).toMatchObject({ status: 'Success' })
  })

  test.each([
    {
      strategy: PatchStrategy.JsonPatch,
      body: [{ op: 'add', path: '/spec/displayName', value: 'patched' }],
      manager: undefined,
    },
    { strategy: PatchStrategy.MergePatch, body: { spec: { displayName: 'patched' } }, manager: undefined },
    { strategy: PatchStrategy.ServerSideApply, body: { spec: { displayName: 'patched' } }, manager: 'tester' },
  ])('patches by $strategy', async ({ strategy, body, manager }) => {
    const name = `patched-${strategy.replace(/\W+/g, '-')}`
    await objects.create(key(name))
    if (Array.isArray(body)) {
      const options = setHeaderOptions('Content-Type', strategy)
      await custom.patchClusterCustomObject({ ...gvr, name, body }, options)
    } else {
      const patch = { ...key(name), spec: body.spec } as AccessKey
      await objects.patch(patch, undefined, undefined, manager, undefined, strategy)
    }
    const read: AccessKey = await custom.getClusterCustomObject({ ...gvr, name })
    expect(read.spec).toEqual({ user: 'alice', displayName: 'patched' })
    const operation = strategy === PatchStrategy.ServerSideApply ? 'Apply' : 'Update'
    expect(read.metadata?.managedFields).toContainEqual(
      expect.objectContaining({
        operation,
        fieldsV1: expect.objectContaining({ 'f:spec': expect.objectContaining({ 'f:displayName': {} }) }),
      }),
    )
  })

  test('gets 415 for a strategic merge patch, which is its default', async () => {
    await objects.create(key('strategic'))
    expect(await codeOf(objects.patch(key('strategic', { displayName: 'x' })))).toBe(415)
  })
})

describe('clients that follow changes', () => {
  test('receive every change once and in order from a watch', async () => {
    const { metadata } = (await server.call(keys)).json
    const seen: string[] = []
    let enough = () => {}
    const all = new Promise<void>((resolve) => {
      enough = resolve
    })
    const controller = await new Watch(config).watch(
      keys,
      { resourceVersion: metadata.resourceVersion, labelSelector: 'watch=yes', allowWatchBookmarks: true },
      (phase, object: AccessKey) => {
        if (phase === 'BOOKMARK') return
        seen.push(`${phase} ${object.metadata?.name} ${object.spec.displayName ?? ''}`.trim())
        if (phase === 'DELETED') enough()
      },
      () => {},
    )
    try {
      await objects.create(key('watched', {}, { watch: 'yes' }))
      await objects.create(key('unwatched'))
      for (const displayName of ['one', 'two']) {
        const options = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
        await custom.patchClusterCustomObject({ ...gvr, name: 'watched', body: { spec: { displayName } } }, options)
      }
      await custom.deleteClusterCustomObject({ ...gvr, name: 'watched' })
      await all
      expect(seen).toEqual(['ADDED watched', 'MODIFIED watched one', 'MODIFIED watched two', 'DELETED watched two'])
    } finally {
      controller.abort()
    }
  })

  test('have the same objects in an informer as the server after any writes', async () => {
    const selector = 'informed=yes'
    const path = keys
    const list = async (): Promise<KubernetesListObject<AccessKey>> =>
      custom.listClusterCustomObject({ ...gvr, labelSelector: selector })
    await objects.create(key('informed-before', {}, { informed: 'yes' }))
    const informer: Informer<AccessKey> & { list(): readonly AccessKey[] } = makeInformer(config, path, list, selector)
    const errors: unknown[] = []
    informer.on('error', (error: unknown) => errors.push(error))
    const last = new Promise<void>((resolve) => {
      informer.on('delete', ({ metadata }: AccessKey) => {
        if (metadata?.name === 'informed-last') resolve()
      })
    })
    await informer.start()
    try {
      const names = Array.from({ length: 8 }, (_, n) => `informed-${n}`)
      const options = setHeaderOptions('Content-Type', PatchStrategy.MergePatch)
      const patch = (name: string, body: object) => custom.patchClusterCustomObject({ ...gvr, name, body }, options)
      await Promise.all(
        names.map(async (name, n) => {
          await objects.create(key(name, {}, { informed: 'yes' }))
          await patch(name, { spec: { displayName: `name ${n}` } })
          if (n % 3 === 0) await custom.deleteClusterCustomObject({ ...gvr, name })
          // Watchers of the selection receive a deletion when an object leaves it.
          if (n % 3 === 1) await patch(name, { metadata: { labels: { informed: null } } })
        }),
      )
      await objects.create(key('informed-last', {}, { informed: 'yes' }))
      await custom.deleteClusterCustomObject({ ...gvr, name: 'informed-last' })
      await last
      const byName = (one: AccessKey, other: AccessKey) =>
        (one.metadata?.name ?? '').localeCompare(other.metadata?.name ?? '')
      expect([...informer.list()].sort(byName)).toEqual((await list()).items)
      expect(errors).toEqual([])
    } finally {
      await informer.stop()
    }
  })
})

// The handshake of fabric8, which falls back to a watch over HTTP after this answer.
test('get an immediate answer through the gateway to a WebSocket upgrade', async () => {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const watched = await server.call(`${keys}?watch=true&allowWatchBookmarks=true`, { headers })
  expect([watched.status, watched.text]).toEqual([200, '\n'])
})

test('read the version', async () => {
  expect((await config.makeApiClient(VersionApi).getCode()).major).toBe('1')
})
