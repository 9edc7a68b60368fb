/** Tests status.canUse, which says whether the user who reads an instance may create its kubeconfig. */
import { expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { instance } from '../../support/objects.ts'
import { admin, alice, bob, userNamed, withScopes } from '../../support/users.ts'

const functions = useFunctions()
const namespace = 'p-web'
const carol = userNamed('carol', ['team:ops'])
const merge = { 'content-type': 'application/merge-patch+json' }

const make = (name: string, spec: object, more: object = {}) =>
  functions.invoke('virtualclusterinstances/create', {
    user: admin,
    parameters: { namespace },
    body: { ...instance(name, spec), ...more },
  })
const at = (name: string) => ({ namespace, name })
const canUse = async (name: string, user: typeof alice) =>
  (await functions.invoke('virtualclusterinstances/get', { user, parameters: at(name) })).json.status?.canUse

test('is true for users who may create the kubeconfig, and false for users who may only read', async () => {
  const access = [
    { verbs: ['get'], users: ['bob'] },
    { verbs: ['get', 'use'], teams: ['ops'] },
  ]
  expect((await make('one', { owner: { user: 'alice' }, access })).json.status.canUse).toBe(true)
  expect(await canUse('one', alice)).toBe(true)
  expect(await canUse('one', bob)).toBe(false)
  expect(await canUse('one', carol)).toBe(true)
})

test('is false if the scope does not allow it, also for administrators', async () => {
  await make('scoped', { owner: { user: 'alice' } })
  const reads = { rules: [{ verbs: ['get'], resources: [{ group: '*', resources: ['virtualclusterinstances'] }] }] }
  const cluster = { virtualClusters: [{ project: 'web', virtualCluster: 'scoped' }] }
  for (const user of [alice, admin]) {
    expect(await canUse('scoped', withScopes(user, reads))).toBe(false)
    expect(await canUse('scoped', withScopes(user, cluster))).toBe(true)
    expect(await canUse('scoped', withScopes(withScopes(user, cluster), reads))).toBe(false)
  }
})

test('depends on the reader in lists and watches', async () => {
  await make('listed', { owner: { user: 'alice' }, access: [{ verbs: ['get', 'list', 'watch'], users: ['bob'] }] })
  const parameters = { namespace }
  for (const [user, expected] of [
    [alice, true],
    [bob, false],
  ] as const) {
    const fieldSelector = 'metadata.name=listed'
    const listed = await functions.invoke('virtualclusterinstances/list', {
      user,
      parameters,
      query: { fieldSelector },
    })
    expect(listed.json.items[0].status).toEqual({ canUse: expected })
    const query = { fieldSelector, watch: '1', timeoutSeconds: '1' }
    const { text } = await functions.invoke('virtualclusterinstances/list', { user, parameters, query })
    expect(JSON.parse(text.split('\n')[0] ?? '').object.status).toEqual({ canUse: expected })
  }
})

test('is never stored', async () => {
  await make('sent', { owner: { user: 'alice' } }, { status: { canUse: false } })
  const body = { status: { canUse: false } }
  const common = { user: admin, parameters: at('sent'), headers: merge, query: {} }
  const invocation = { ...common, body, subresource: 'status' as const }
  const patched = await functions.invoke('virtualclusterinstances/patch', invocation)
  expect([patched.status, patched.json.status]).toEqual([200, { canUse: true }])
  const { resourceVersion } = patched.json.metadata
  const replaced = await functions.invoke('virtualclusterinstances/update', {
    user: alice,
    parameters: at('sent'),
    body: { ...patched.json, status: { canUse: false, phase: 'x' } },
  })
  expect([replaced.status, replaced.json.metadata.resourceVersion]).toEqual([200, resourceVersion])
})
