/** Tests the Kubernetes JavaScript client, whose code is generated from the API of a real kube-apiserver. */
import {
  type ApiException,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  KubernetesObjectApi,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node'
import { beforeAll, describe, expect, test } from 'vitest'
import { kubeConfig } from '../support/kubectl.ts'
import { accessKey } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'

interface AccessKey extends KubernetesObject {
  spec: { user?: string; displayName?: string; key?: string; disabled?: boolean }
  status?: { owner: string; phase: string }
}

const gvr = { group: 'management.platform', version: 'v1', plural: 'ownedaccesskeys' }

const server = useServer()
let config: KubeConfig
let custom: CustomObjectsApi
let objects: KubernetesObjectApi

beforeAll(() => {
  config = new KubeConfig()
  config.loadFromString(JSON.stringify(kubeConfig(server.base, server.certificateAuthority, server.adminKey)))
  custom = config.makeApiClient(CustomObjectsApi)
  objects = KubernetesObjectApi.makeApiClient(config)
})

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
})

describe('KubernetesObjectApi', () => {
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
