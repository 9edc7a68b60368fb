/**
 * Tests what the handlers do for every kind, with one of them. Answers that kube-apiserver defines are in test/conformance.
 */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Invocation, type Json, useFunctions } from '../support/functions.ts'
import { admin, alice, userNamed, withScopes } from '../support/users.ts'
import { accessKeys, callsOf, instances, objectOf, status } from './stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read, put, patch, remove } = callsOf(functions, accessKeys)
const namesIn = (list: Json): string[] => list.items.map(({ metadata }: Json) => metadata.name)
const apply = (name: string, body: unknown, query: Record<string, string> = {}) =>
  patch(name, 'apply', body, { query: { fieldManager: 'tester', ...query } })

describe('a body', () => {
  // The limit bounds the memory and time of a function.
  // threat: gateway-6
  test('of more than 3 MiB is a 413', async () => {
    const { status: code, json } = await call('create', { body: ' '.repeat(3 * 1024 * 1024 + 1) })
    expect([code, json.reason]).toEqual([413, 'RequestEntityTooLarge'])
  })

  test.each([{ kind: undefined }, { apiVersion: null }, { apiVersion: '', kind: null }])(
    'has the kind of the endpoint by default: %j',
    async (left) => {
      const name = `typeless-${JSON.stringify(left).length}`
      const { status: code, json } = await call('create', { body: { ...objectOf(accessKeys, { name }), ...left } })
      expect([code, json.kind, json.apiVersion]).toEqual([201, 'OwnedAccessKey', 'management.platform/v1'])
      expect(await put(name, { ...json, ...left })).toMatchObject({ status: 200, json: { kind: 'OwnedAccessKey' } })
      expect((await put(name, { ...json, ...left, kind: 'Other' })).status).toBe(422)
      expect((await put(name, { ...json, apiVersion: 'v1' })).status).toBe(400)
    },
  )

  test.each(['', 'status'] as const)(
    'keeps apiVersion and kind if a patch removes them, through the subresource "%s"',
    async (subresource) => {
      const name = `versionless${subresource}`
      const { apiVersion, kind } = await make({ name })
      const strip = (more: object) =>
        patch(name, 'merge', { apiVersion: null, kind: null, ...more }, { ...(subresource && { subresource }) })
      expect(await strip({})).toMatchObject({ status: 200, json: { apiVersion, kind } })
      expect((await strip({ metadata: { resourceVersion: '1' } })).status).toBe(409)
      expect((await strip({ metadata: { name: null, resourceVersion: '1' } })).json.message).toMatch(/undeterminable/)
      expect((await strip({ kind: 'Other' })).status).toBe(subresource ? 200 : 422)
    },
  )

  // Of 196 KB of compressed data, managedFields may take as much as the fields they describe.
  test('loses managedFields if only they make the object too large, also in later writes', async () => {
    const random = (bytes: number) => randomBytes(bytes).toString('base64url')
    const annotations = Object.fromEntries(Array.from({ length: 1400 }, () => [`k${random(42)}k`, '']))
    const body = objectOf(accessKeys, { name: 'large', annotations }, { user: 'alice', description: random(90_000) })
    const { status: code, json } = await call('create', { body })
    expect([code, Object.keys(json.metadata.annotations).length]).toEqual([201, 1400])
    const replaced = await put('large', { ...json, spec: { ...json.spec, displayName: 'put' } })
    const patched = await patch('large', 'merge', { spec: { displayName: 'patched' } })
    expect([replaced.status, patched.status, patched.json.spec.displayName]).toEqual([200, 200, 'patched'])
    for (const one of [json, replaced.json, patched.json]) expect(one.metadata).not.toHaveProperty('managedFields')
  })
})

// With more than 10,240 bytes of headers the gateway would fail a request that succeeded.
// threat: gateway-11
test('warnings are as many as those of kube-apiserver, within the limit of the gateway', async () => {
  const finalizers = Array.from({ length: 300 }, (_, index) => `hold-${index}`)
  const { status: code, headers } = await call('create', { body: objectOf(accessKeys, { name: 'warned', finalizers }) })
  const warnings = [headers.warning ?? []].flat()
  expect([code, warnings[0]]).toEqual([201, expect.stringContaining('hold-0')])
  const bytes = warnings.reduce((sum, text) => sum + text.length + 11, 0)
  expect([bytes > 4096, bytes <= 8192]).toEqual([true, true])
})

describe('a list', () => {
  test('is limited by selectable fields of the spec', async () => {
    await make({ name: 'field' }, { user: 'alice', type: 'Other', disabled: true })
    const selected = async (fieldSelector: string) =>
      (await call('list', { query: { fieldSelector } })).json.items.length
    expect(await selected('spec.user=alice,spec.type=Other,spec.disabled=true,spec.team=')).toBe(1)
    expect(await selected('spec.user=alice,spec.type=Other,spec.disabled=false')).toBe(0)
  })

  // threat: users-2
  test('of an owner shows the keys that its status names, and to nobody more than without', async () => {
    const names = ['a-1', 'a-2', 'a-3']
    for (const name of names) await make({ name }, { user: 'ann' })
    await make({ name: 'a-ops' }, { user: 'ann', team: 'ops' })
    await make({ name: 'ops' }, { team: 'ops' })
    await make({ name: 'sub' }, { subject: 'robot' })
    await make({ name: 'made' }, {})
    const query = { fieldSelector: 'status.owner=ann', limit: '2' }
    const { json: page } = await call('list', { query })
    await patch('a-3', 'merge', { spec: { user: 'bob' } })
    const rest = await call('list', { query: { ...query, continue: page.metadata.continue } })
    expect([...namesIn(page), ...namesIn(rest.json)]).toEqual([...names, 'a-ops'])
    const list = async (fieldSelector: string, user = admin, more: Record<string, string> = {}) =>
      namesIn((await call('list', { user, query: { fieldSelector, ...more } })).json)
    expect(await list('status.owner=ann')).toEqual(['a-1', 'a-2', 'a-ops'])
    expect(await list('spec.team=ops')).toEqual(['a-ops', 'ops'])
    expect(await list('status.owner=team:ops')).toEqual(['ops'])
    expect(await list('status.owner=subject:robot,spec.subject=robot')).toEqual(['sub'])
    expect(await list('status.owner=admin', admin, { namePrefix: 'ma' })).toEqual(['made'])
    expect(await list('status.owner!=ann', admin, { namePrefix: 'a-' })).toEqual(['a-3'])
    expect(await list('status.owner=ann', alice)).toEqual([])
    expect(await list('status.owner=ann', userNamed('ann'), { namePrefix: 'a-2' })).toEqual(['a-2'])
    const ops = userNamed('eve', ['team:ops'])
    expect([await list('status.owner=team:ops', ops), await list('status.owner=ann', ops)]).toEqual([['ops'], []])
    const own = withScopes(admin, { roles: [{ role: 'platformCLI' }] })
    expect([await list('status.owner=ann', own), await list('status.owner=admin', own)]).toEqual([[], ['made']])
    const answer = await call('list', { query: { fieldSelector: 'status.phase=Active' } })
    expect(answer).toMatchObject({ status: 400, json: { message: 'field label not supported: status.phase' } })
  })

  test('that is watched by owner and name prefix tells when a key changes hands', async () => {
    await make({ name: 'w-old' }, { user: 'wes' })
    const { metadata } = await make({ name: 'w-moved' }, { user: 'wes' })
    await make({ name: 'other' }, { user: 'wes' })
    await patch('w-moved', 'merge', { spec: { user: 'bob' } })
    const watch = async (query: Record<string, string>) => {
      const selected = { fieldSelector: 'status.owner=wes', namePrefix: 'w-', watch: 'true', timeoutSeconds: '1' }
      const { text } = await call('list', { query: { ...selected, ...query } })
      const lines = text.split('\n').filter((line) => line.trim() !== '')
      return lines.map((line) => JSON.parse(line)).map(({ type, object }) => `${type} ${object.metadata.name}`)
    }
    const { resourceVersion } = metadata
    expect(await Promise.all([watch({}), watch({ resourceVersion })])).toEqual([['ADDED w-old'], ['DELETED w-moved']])
  })

  test('of names with a prefix in all namespaces has those of each', async () => {
    const { call: ofInstances } = callsOf(functions, instances)
    for (const namespace of ['p-a', 'p-b']) {
      for (const name of ['x-1', 'y']) {
        await ofInstances('create', { parameters: { namespace }, body: objectOf(instances, { name }) })
      }
    }
    const all = { resource: '/kubernetes/management/apis/management.platform/v1/virtualclusterinstances' }
    const { json } = await ofInstances('list', { ...all, parameters: { namespace: '' }, query: { namePrefix: 'x' } })
    expect(json.items.map((one: Json) => one.metadata.namespace)).toEqual(['p-a', 'p-b'])
  })

  // fabric8 first requests a WebSocket. It watches over HTTP after that response ends.
  test.each([
    { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    { upgrade: 'WebSocket' },
  ])('ends a watch over WebSocket at once without events: %o', async (headers) => {
    await make({ name: `ws-${Object.keys(headers).join('-').toLowerCase()}` })
    const answer = await call('list', { query: { watch: 'true' }, headers })
    expect([answer.status, answer.text]).toEqual([200, '\n'])
    expect((await call('list', { query: { watch: 'true', labelSelector: 'a in' }, headers })).status).toBe(400)
  })
})

describe('a deletecollection', () => {
  const removeAll = (labelSelector: string, more: Invocation) =>
    call('deletecollection', { query: { labelSelector }, body: null, ...more })

  // threat: revocation-4
  test.each<[number, string, Invocation]>([
    [400, 'safe in (', {}],
    [400, 'safe', { query: { fieldSelector: 'spec.nothing=1' } }],
    [400, 'safe', { query: { labelSelector: 'safe', namePrefix: 'safe' } }],
    [400, 'safe', { query: { labelSelector: 'safe', 'name_prefix[]': 'none' } }],
    [406, 'safe', { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } }],
    [422, 'safe', { body: { propagationPolicy: 'Sideways' } }],
  ])('that is a %i deletes nothing: %s %j', async (expected, selector, more) => {
    await call('create', { body: objectOf(accessKeys, { name: 'safe', labels: { safe: 'yes' } }) })
    expect((await removeAll(selector, more)).status).toBe(expected)
    expect((await read('safe')).kind).toBe('OwnedAccessKey')
  })

  test('ends with 409 at the first object that the preconditions do not fit', async () => {
    for (const name of ['fit-a', 'fit-b']) await make({ name, labels: { fit: 'yes' } })
    const { uid } = (await read('fit-b')).metadata
    const { status: code, json } = await removeAll('fit', { body: { preconditions: { uid } } })
    expect([code, json.details.name]).toEqual([409, 'fit-a'])
    const left = await Promise.all(['fit-a', 'fit-b'].map(async (name) => (await read(name)).kind))
    expect(left).toEqual(['OwnedAccessKey', 'OwnedAccessKey'])
  })
})

// Applied fields outside the status are ignored, and do not change the time of the last apply either.
test('an apply keeps the resourceVersion if nothing outside the ignored fields changes', async () => {
  const own = { name: 'timeless', labels: { a: '1' } }
  const { apiVersion, kind } = objectOf(accessKeys, own)
  const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:a': {} } } }
  const entry = { manager: 'tester', operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1 }
  await make(own)
  const body = { metadata: { managedFields: [entry] } }
  const { metadata } = (await patch('timeless', 'merge', body)).json
  const { status: code, json } = await apply('timeless', { apiVersion, kind, metadata: own, status: {} })
  expect([code, json.metadata]).toEqual([200, metadata])
})

describe('applies at once to a missing object', () => {
  const times = 6
  const managers = Array.from({ length: times }, (_, index) => `manager-${index}`)
  const applyAs = (name: string, manager: string, labels: object, query: Record<string, string> = {}) =>
    apply(name, objectOf(accessKeys, { name, labels }), { fieldManager: manager, ...query })
  const codes = (answers: readonly { status: number }[]) => answers.map(({ status: code }) => code).sort()
  const oneCreates = (others: number) => [201, ...Array(times - 1).fill(others)].sort()

  test('by several managers, each with its own field, all succeed', async () => {
    const answers = await Promise.all(managers.map((one) => applyAs('shared', one, { [one]: 'x' })))
    expect(codes(answers)).toEqual(oneCreates(200))
    const { labels, managedFields } = (await read('shared')).metadata
    expect(Object.keys(labels).sort()).toEqual([...managers].sort())
    expect(managedFields.map((entry: { manager: string }) => entry.manager).sort()).toEqual([...managers].sort())
  })

  test('by several managers of one field are conflicts, unless forced', async () => {
    const answers = await Promise.all(managers.map((one) => applyAs('contended', one, { a: one })))
    expect(codes(answers)).toEqual(oneCreates(409))
    const reasons = answers.flatMap(({ json }) => json.details?.causes?.[0].reason ?? [])
    expect(new Set(reasons)).toEqual(new Set(['FieldManagerConflict']))
    const forced = await Promise.all(managers.map((one) => applyAs('forced', one, { a: one }, { force: 'true' })))
    expect(codes(forced)).toEqual(oneCreates(200))
  })

  test('find or create it while others delete it repeatedly', async () => {
    const answers = await Promise.all(
      managers.slice(0, 3).flatMap((one) => [applyAs('fleeting', one, { [one]: 'x' }), remove('fleeting')]),
    )
    const applies = answers.filter((_, index) => index % 2 === 0)
    expect(applies.filter(({ status: code }) => code !== 200 && code !== 201)).toEqual([])
  })
})

// Only administrators register virtual clusters.
test('a creation that its kind allows only to administrators is a 403', async () => {
  const { parameters, plural } = instances
  const body = objectOf(instances, { name: 'mine' })
  const { status: code, json } = await callsOf(functions, instances).call('create', { parameters, user: alice, body })
  const message = `${plural}.management.platform is forbidden: User "alice" cannot create resource "${plural}" in API group "management.platform" in the namespace "p-web": only system:masters may create virtual cluster instances`
  expect([code, json]).toEqual([403, status(403, 'Forbidden', message)])
})
