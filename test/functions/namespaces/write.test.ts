/** Tests that PUT and PATCH of a namespace return it unchanged, and say what is not kept. */
import { describe, expect, test } from 'vitest'
import { type Invocation, useFunctions } from '../../support/functions.ts'
import { alice, withScopes } from '../../support/users.ts'

const functions = useFunctions()

const namespace = (metadata: object = {}, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'p-web', ...metadata },
  ...more,
})
const put = (body: unknown, more: Invocation = {}) =>
  functions.invoke('namespaces/update', { user: alice, query: {}, body, ...more })
const patch = (type: string, body: unknown, query: Record<string, string> = {}, more: Invocation = {}) =>
  functions.invoke('namespaces/patch', {
    user: alice,
    headers: { 'content-type': `application/${type}` },
    query,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...more,
  })
const apply = 'apply-patch+yaml'
const merge = 'merge-patch+json'
const helm = { fieldManager: 'helm' }

const added = { labels: { team: 'a' }, annotations: { note: 'b' } }
const lost = 'namespaces are not stored, so this is not kept: metadata.labels[team], metadata.annotations[note]'

describe.each<[string, (metadata: object) => ReturnType<typeof put>]>([
  ['an update', (metadata) => put(namespace(metadata, { spec: {}, status: {} }))],
  ['an apply', (metadata) => patch(apply, namespace(metadata), helm)],
  ['a merge patch', (metadata) => patch(merge, { metadata })],
  [
    'a strategic merge patch',
    (metadata) => patch('strategic-merge-patch+json', { metadata, spec: { '$setElementOrder/finalizers': [] } }),
  ],
  [
    'a JSON patch',
    (metadata) =>
      patch('json-patch+json', [
        ...Object.entries(metadata).map(([name, value]) => ({ op: 'add', path: `/metadata/${name}`, value })),
        { op: 'test', path: '/status/phase', value: 'Active' },
      ]),
  ],
])('%s', (_, write) => {
  test('returns the namespace as it is, and says what is not kept', async () => {
    const silent = await write({})
    expect([silent.status, silent.headers.warning]).toEqual([200, undefined])
    expect(silent.json).toMatchObject({ kind: 'Namespace', metadata: { name: 'p-web', resourceVersion: '1' } })
    const { status, json, headers } = await write(added)
    expect([status, json]).toEqual([200, silent.json])
    expect(headers.warning).toEqual([`299 - "${lost}"`])
  })
})

describe('errors', () => {
  test.each<[number, string, () => ReturnType<typeof put>]>([
    [422, 'fieldManager: Required value', () => patch(apply, namespace())],
    [422, 'a lowercase RFC 1123 label', () => patch(apply, {}, helm, { parameters: { name: 'Not_One' } })],
    [404, 'namespaces "Not_One" not found', () => patch(merge, {}, {}, { parameters: { name: 'Not_One' } })],
    [415, 'accepted media types include', () => patch('json', {})],
    [400, 'does not match the name on the URL', () => patch(merge, { metadata: { name: 'other' } })],
    [400, 'does not match the name on the URL', () => put(namespace({ name: 'other' }))],
    [400, 'no kind "Pod"', () => put({ ...namespace(), kind: 'Pod' })],
    [422, 'metadata.labels', () => patch(apply, namespace({ labels: { 'a b': '' } }), helm)],
    [422, 'unknown field "spec.x"', () => patch(merge, { spec: { x: 1 } }, { fieldValidation: 'Strict' })],
    [422, 'dryRun', () => patch(merge, {}, { dryRun: 'yes' })],
    [409, 'UID in precondition', () => put(namespace({ uid: 'x' }))],
  ])('%i: %s', async (code, message, write) => {
    const { status, json } = await write()
    expect([status, json.message]).toEqual([code, expect.stringContaining(message)])
  })

  // threat: users-6
  test('403 unless the scope allows the create as well', async () => {
    const scope = (...verbs: string[]) => ({
      rules: [{ verbs, resources: [{ group: '', resources: ['namespaces'] }] }],
    })
    const as = (...verbs: string[]) => ({ user: withScopes(alice, scope(...verbs)) })
    expect((await patch(apply, namespace(), helm, as('patch', 'create'))).status).toBe(200)
    expect((await patch(apply, namespace(), helm, as('patch'))).status).toBe(403)
    expect((await put(namespace(), as('update'))).status).toBe(403)
    const project = { user: withScopes(alice, { projects: [{ project: 'web' }] }) }
    expect((await put(namespace(), project)).status).toBe(200)
  })
})
