/** Tests lists and watches of namespaces, which show those that hold objects which the user may see. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../../lib/access/scopes/scope.ts'
import type { UserInfo } from '../../../lib/access/users/user.ts'
import { type Invocation, useFunctions } from '../../support/functions.ts'
import { instance } from '../../support/objects.ts'
import { admin, alice, bob, withScopes } from '../../support/users.ts'

const functions = useFunctions()

const list = (user: UserInfo, query: Record<string, string> = {}, more: Invocation = {}) =>
  functions.invoke('namespaces/list', { user, query, ...more })
const namesOf = async (...asked: Parameters<typeof list>): Promise<string[]> =>
  (await list(...asked)).json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)

/** Returns the events of a watch, each as `TYPE name`. */
async function watch(user: UserInfo, query: Record<string, string>) {
  const { text } = await list(user, { watch: 'true', timeoutSeconds: '1', ...query })
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const events = lines.map((line) => JSON.parse(line))
  return { events, told: events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`.trim()) }
}

const make = async (namespace: string, name: string, spec: object = {}) =>
  (
    await functions.invoke('virtualclusterinstances/create', {
      user: admin,
      parameters: { namespace },
      body: instance(name, spec),
    })
  ).json.metadata.resourceVersion as string
const remove = (namespace: string, name: string) =>
  functions.invoke('virtualclusterinstances/delete', { user: admin, parameters: { namespace, name }, body: null })

let first = ''
beforeAll(async () => {
  // Keys of instances are in another order than the names of their namespaces: `p-web-x/…` is before `p-web/…`.
  first = await make('p-web-x', 'one', { owner: { user: 'bob' } })
  await make('p-web', 'one', { owner: { user: 'alice' } })
  await make('p-web', 'two')
  await make('p-ops', 'one', { access: [{ verbs: ['get', 'list', 'watch'], users: ['alice'] }] })
})

describe('a list', () => {
  // threat: users-5
  test('has the namespaces that hold objects which the user may see, as GET returns them', async () => {
    const { status, json } = await list(admin)
    expect([status, json.kind, json.apiVersion]).toEqual([200, 'NamespaceList', 'v1'])
    expect(Number(json.metadata.resourceVersion)).toBeGreaterThan(0)
    const path = '/kubernetes/management/api/v1/namespaces/p-ops'
    const route = { path, resource: '/{proxy+}', parameters: { proxy: path.slice(1) } }
    expect(json.items[0]).toEqual((await functions.invoke('discovery', { user: alice, ...route })).json)
    expect(await namesOf(admin)).toEqual(['p-ops', 'p-web', 'p-web-x'])
    expect(await namesOf(alice)).toEqual(['p-ops', 'p-web'])
    expect(await namesOf(bob)).toEqual(['p-web-x'])
  })

  // threat: users-5
  test.each<[string, Scope, string[]]>([
    ['may list the instances of one project', { projects: [{ project: 'web' }] }, ['p-web']],
    ['may list no instances', { rules: [{ resources: [{ group: '', resources: ['namespaces'] }] }] }, []],
  ])('is empty but for the namespaces in which the scope %s', async (_, scope, expected) => {
    expect(await namesOf(withScopes(admin, scope))).toEqual(expected)
  })

  // threat: users-5
  test('of a name answers as GET does, for every valid name', async () => {
    for (const name of ['p-web', 'nowhere']) {
      expect(await namesOf(bob, { fieldSelector: `metadata.name=${name}` })).toEqual([name])
    }
    expect(await namesOf(admin, { fieldSelector: 'metadata.name=Not_One' })).toEqual([])
    expect(await namesOf(bob, { fieldSelector: 'metadata.name=p-web,status.phase=Terminating' })).toEqual([])
  })

  test('applies selectors of labels and fields', async () => {
    expect(await namesOf(admin, { labelSelector: 'kubernetes.io/metadata.name in (p-ops,p-web)' })).toEqual([
      'p-ops',
      'p-web',
    ])
    expect(await namesOf(admin, { fieldSelector: 'metadata.name!=p-web,status.phase=Active' })).toEqual([
      'p-ops',
      'p-web-x',
    ])
    expect((await list(admin, { fieldSelector: 'spec.finalizers=x' })).status).toBe(400)
    expect(await namesOf(admin, { namePrefix: 'p-web-' })).toEqual(['p-web-x'])
  })

  test('has pages at one revision', async () => {
    const { json: page } = await list(admin, { limit: '2' })
    expect([page.items.length, page.metadata.remainingItemCount]).toEqual([2, 1])
    await make('p-zoo', 'one')
    const { json: last } = await list(admin, { limit: '2', continue: page.metadata.continue })
    expect([last.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)]).toEqual([['p-web-x']])
    expect(last.metadata).toEqual({ resourceVersion: page.metadata.resourceVersion, continue: '' })
    expect(await namesOf(admin, { resourceVersion: first, resourceVersionMatch: 'Exact' })).toEqual(['p-web-x'])
    expect((await list(admin, { resourceVersion: '99999', resourceVersionMatch: 'NotOlderThan' })).status).toBe(504)
    await remove('p-zoo', 'one')
  })

  test('is shown as kubectl shows it, and as metadata', async () => {
    const as = (form: string) => ({ headers: { accept: `application/json;as=${form};v=v1;g=meta.k8s.io` } })
    const { json: table } = await list(bob, {}, as('Table'))
    expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Status', 'Age'])
    expect(table.rows[0].cells.slice(0, 2)).toEqual(['p-web-x', 'Active'])
    const { json: metadata } = await list(bob, {}, as('PartialObjectMetadataList'))
    expect(metadata.items[0]).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'p-web-x' } })
    const head = await list(bob, {}, { method: 'HEAD' })
    expect([head.status, head.text.trim()]).toEqual([200, ''])
  })
})

describe('a watch', () => {
  const initial = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }

  test('begins with the namespaces that hold objects, and marks their end', async () => {
    const [{ events, told }, silent] = await Promise.all([watch(alice, initial), watch(alice, {})])
    expect(told).toEqual(['ADDED p-ops', 'ADDED p-web', 'BOOKMARK', 'BOOKMARK'])
    expect(events[2].object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
    expect(silent.told).toEqual(['ADDED p-ops', 'ADDED p-web'])
  })

  test('shows a namespace from its first object until its last one is gone, at the revision of the change', async () => {
    const { json } = await list(admin)
    const since = { resourceVersion: json.metadata.resourceVersion }
    const added = await make('p-new', 'one')
    await make('p-new', 'two', { owner: { user: 'alice' } })
    await remove('p-new', 'one')
    await make('p-web', 'three', { owner: { user: 'bob' } })
    await remove('p-new', 'two')
    await remove('p-web', 'three')
    const [{ events, told }, other, resumed] = await Promise.all([
      watch(admin, since),
      watch(alice, { ...since, labelSelector: 'kubernetes.io/metadata.name=p-web' }),
      watch(admin, { resourceVersion: added }),
    ])
    expect(told).toEqual(['ADDED p-new', 'DELETED p-new'])
    expect(events[0].object.metadata.resourceVersion).toBe(added)
    expect(Number(events[1].object.metadata.resourceVersion)).toBe(Number(added) + 4)
    expect(other.told).toEqual([])
    // A watch that resumes between the two changes knows what existed then.
    expect(resumed.told).toEqual(['DELETED p-new'])
  })

  // kubectl wait and informers of one namespace.
  test('of a name shows it from the start, and never deletes it', async () => {
    const fieldSelector = 'metadata.name=p-gone'
    const { resourceVersion } = (await list(admin)).json.metadata
    await make('p-gone', 'one')
    await remove('p-gone', 'one')
    const [begun, resumed] = await Promise.all([
      watch(bob, { fieldSelector }),
      watch(admin, { fieldSelector, resourceVersion }),
    ])
    expect([begun.told, resumed.told]).toEqual([['ADDED p-gone'], []])
  })
})
