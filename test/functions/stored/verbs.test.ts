/**
 * Tests each verb of every stored kind once. What the verbs do is tested by test/kinds for the registry, by test/conformance for
 * answers that kube-apiserver defines, and by handlers.test.ts.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Invocation, useFunctions } from '../../support/functions.ts'
import { bob } from '../../support/users.ts'
import {
  accessKeys,
  callsOf,
  clusters,
  instances,
  objectOf,
  providers,
  type StoredFunctions,
  status,
  trusts,
} from './fixtures.ts'

const functions = useFunctions()
const kinds: StoredFunctions[] = [accessKeys, instances, providers, trusts, clusters]

// Credentials need the provider of the event.
beforeAll(async () => {
  expect((await functions.invoke('identityproviders/create')).status).toBe(201)
})

const as = (form: string) => ({ accept: `application/json;as=${form};v=v1;g=meta.k8s.io` })

describe.each(kinds)('$plural', (stored) => {
  const { kind, plural, parameters, spec, changed } = stored
  const { call, at, make, read, put, patch, remove } = callsOf(functions, stored)
  const list = (query: Record<string, string>, more: Invocation = {}) => call('list', { parameters, query, ...more })
  const removeAll = (query: Record<string, string>, more: Invocation = {}) =>
    call('deletecollection', { parameters, query, body: null, ...more })
  const kindsOf = (...names: string[]) => Promise.all(names.map(async (name) => (await read(name)).kind))

  // The fields belong to the manager that the event names.
  test('create and get accept the events of the repository', async () => {
    const event = { headers: { accept: '*/*' } }
    if (stored !== providers) {
      const { status: code, json } = await functions.invoke(`${plural}/create`, event)
      expect([code, json]).toMatchObject([201, { kind, metadata: { name: stored.name, generation: 1 } }])
      expect(json.metadata.managedFields).toMatchObject([{ manager: 'kubectl-create', operation: 'Update' }])
    }
    const { status: code, json } = await functions.invoke(`${plural}/get`, event)
    expect([code, json.kind, json.metadata.name]).toEqual([200, kind, stored.name])
  })

  test('get returns tables, metadata, the status subresource, and 404 with the name of the resource', async () => {
    await make({ name: 'forms' })
    const get = async (more: Invocation) => (await call('get', { parameters: at('forms'), ...more })).json
    expect(await get({ headers: as('Table') })).toMatchObject({
      kind: 'Table',
      rows: [{ cells: expect.arrayContaining(['forms']), object: { kind: 'PartialObjectMetadata' } }],
    })
    expect(await get({ headers: as('PartialObjectMetadata') })).toEqual({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadata',
      metadata: expect.objectContaining({ name: 'forms' }),
    })
    expect(await get({ subresource: 'status' })).toMatchObject({ kind, metadata: { name: 'forms' } })
    const { json } = await call('get', { parameters: at('nothing') })
    expect(json).toEqual(status(404, 'NotFound', `${plural}.management.platform "nothing" not found`))
  })

  test('list returns the selected objects, ordered by name, in every form', async () => {
    for (const name of ['l-b', 'l-a', 'l-c']) await make({ name, labels: { list: 'yes', name } })
    const names = async (query: Record<string, string>) =>
      (await list(query)).json.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    const { status: code, json } = await list({})
    expect([code, json.kind, json.apiVersion]).toEqual([200, `${kind}List`, 'management.platform/v1'])
    expect(await names({ labelSelector: 'list=yes' })).toEqual(['l-a', 'l-b', 'l-c'])
    expect(await names({ labelSelector: 'list,name notin (l-a)', limit: '1' })).toEqual(['l-b'])
    expect(await names({ fieldSelector: 'metadata.name=l-c' })).toEqual(['l-c'])
    expect(await names({ namePrefix: 'l-', labelSelector: 'name!=l-b' })).toEqual(['l-a', 'l-c'])
    for (const form of ['Table', 'PartialObjectMetadataList']) {
      expect((await list({}, { headers: as(form) })).json.kind).toBe(form)
    }
  })

  test('update and each form of patch change the object', async () => {
    for (const name of ['put', 'merge', 'json']) await make({ name, labels: { a: '1', b: '2' } })
    const before = await read('put')
    const operations = [
      { op: 'move', from: '/metadata/labels/a', path: '/metadata/labels/c' },
      { op: 'replace', path: '/spec', value: changed },
    ]
    const configuration = objectOf(stored, { name: 'applied', labels: { b: '2', c: '1' } }, changed)
    const answers = [
      await put('put', { ...before, metadata: { ...before.metadata, labels: { b: '2', c: '1' } }, spec: changed }),
      await patch('merge', 'merge', { metadata: { labels: { a: null, c: '1' } }, spec: changed }),
      await patch('json', 'json', operations),
      await patch('applied', 'apply', configuration, { query: { fieldManager: 'tester' } }),
    ]
    expect(answers.map(({ status: code }) => code)).toEqual([200, 200, 200, 201])
    for (const { json } of answers) {
      expect([json.spec, json.metadata.labels]).toMatchObject([changed, { b: '2', c: '1' }])
      expect(Object.keys(json.metadata.labels)).toHaveLength(2)
    }
    expect(answers[3]?.json.metadata.managedFields).toMatchObject([{ manager: 'tester', operation: 'Apply' }])
  })

  test('the status has its own writers, and what the server computes has none', async () => {
    const created = await call('create', {
      parameters,
      body: { ...objectOf(stored, { name: 'status' }), status: { phase: 'Mine' } },
    })
    expect([created.status, created.json.status?.phase]).not.toEqual([201, 'Mine'])
    const { json } = await put('status', { ...created.json, spec: changed, status: { phase: 'Mine' } })
    expect(json.status?.phase).not.toBe('Mine')
    const body = { status: { lastActivity: '2026-01-01T00:00:00Z', message: 'now' }, spec }
    const more = { subresource: 'status', query: { fieldValidation: 'Ignore' } } as const
    for (const answer of [
      await patch('status', 'merge', body, more),
      await put('status', { ...(await read('status')), ...body }, more),
    ]) {
      expect([answer.status, answer.json.spec]).toEqual([200, changed])
      const written = /2026-01-01T00:00:00Z|now/.test(JSON.stringify(answer.json.status))
      expect(written).toBe(stored.computedStatus !== true)
    }
  })

  // threat: users-23
  test('no write stores anything in a dry run', async () => {
    const before = await make({ name: 'dry', labels: { dry: 'yes' } })
    const more = { query: { dryRun: 'All' } }
    const body = objectOf(stored, { name: 'dried' })
    const answers = [
      await call('create', { parameters, body, ...more }),
      await patch('dried', 'apply', body, { query: { fieldManager: 'tester', ...more.query } }),
      await put('dry', { ...(await read('dry')), spec: changed }, more),
      await patch('dry', 'merge', { metadata: { labels: { dry: 'no' } } }, more),
      await remove('dry', more),
      await remove('dry', { body: { dryRun: ['All'] } }),
      await removeAll({ labelSelector: 'dry', dryRun: 'All' }),
    ]
    expect(answers.map(({ status: code }) => code)).toEqual([201, 201, 200, 200, 200, 200, 200])
    expect(answers.at(-1)?.json.items).toHaveLength(1)
    expect(await read('dried')).toMatchObject({ code: 404 })
    expect((await read('dry')).metadata).toEqual(before.metadata)
  })

  test('delete returns the uid, or the object if finalizers hold it', async () => {
    const { metadata } = await make({ name: 'gone' })
    const { status: code, json } = await remove('gone')
    const details = { name: 'gone', group: 'management.platform', kind: plural, uid: metadata.uid }
    expect([code, json]).toEqual([200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }])
    await make({ name: 'held', finalizers: ['example.com/hold'] })
    const held = await remove('held')
    expect(held.json).toMatchObject({ kind, metadata: { deletionTimestamp: expect.any(String), generation: 2 } })
    expect(await kindsOf('gone', 'held')).toEqual(['Status', kind])
  })

  test('deletecollection deletes only objects that match the selector', async () => {
    for (const name of ['c-a', 'c-b']) await make({ name, labels: { doomed: 'yes' } })
    await make({ name: 'c-kept' })
    const { status: code, json } = await removeAll({ labelSelector: 'doomed=yes' })
    expect([code, json.kind, json.items.length]).toEqual([200, `${kind}List`, 2])
    expect(await kindsOf('c-a', 'c-b', 'c-kept')).toEqual(['Status', 'Status', kind])
  })

  // No answer reveals that another user's object exists.
  test('no verb shows, changes or deletes an object that the user may not see', async () => {
    const before = await make({ name: 'hidden', labels: { hidden: 'yes' } })
    const user = bob
    const attempts = (name: string) => [
      call('get', { parameters: at(name), user }),
      put(name, { ...before, metadata: { ...before.metadata, name } }, { user }),
      patch(name, 'merge', { spec: changed }, { user }),
      patch(name, 'json', [], { user }),
      remove(name, { user }),
    ]
    const [hidden, missing] = await Promise.all(['hidden', 'missing'].map((name) => Promise.all(attempts(name))))
    expect(hidden?.map(({ status: code }) => code)).toEqual([404, 404, 404, 404, 404])
    expect(hidden?.map(({ text }) => text.replaceAll('hidden', 'missing'))).toEqual(missing?.map(({ text }) => text))
    const labelSelector = 'hidden'
    const [listed, paged] = await Promise.all(
      [{}, { limit: '1' }].map((one) => list({ labelSelector, ...one }, { user })),
    )
    const resourceVersion = listed?.json.metadata.resourceVersion
    expect([listed, paged].map((one) => one?.json.items)).toEqual([[], []])
    expect([listed, paged].map((one) => one?.json.metadata)).toEqual(Array(2).fill({ continue: '', resourceVersion }))
    expect(await removeAll({ labelSelector }, { user })).toMatchObject({ status: 200, json: { items: [] } })
    expect((await read('hidden')).metadata).toEqual(before.metadata)
  })
})

test('list sends changes to a watch, of each kind, and only to users who may see the object', async () => {
  const watches = kinds.map(async (stored) => {
    const { call, make, patch, remove } = callsOf(functions, stored)
    const { metadata } = await make({ name: 'watched', labels: { watch: 'yes' } })
    await patch('watched', 'merge', { metadata: { labels: { step: '2' } } })
    await remove('watched')
    const { resourceVersion } = metadata
    const query = { watch: 'true', timeoutSeconds: '1', labelSelector: 'watch', resourceVersion }
    const { parameters } = stored
    const [admins, bobs] = await Promise.all(
      [{}, { user: bob }].map((one) => call('list', { parameters, query, ...one })),
    )
    const events = admins?.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events?.map(({ type, object: { kind, metadata } }) => [type, kind, metadata.name])).toEqual([
      ['MODIFIED', stored.kind, 'watched'],
      ['DELETED', stored.kind, 'watched'],
    ])
    expect([admins?.status, bobs?.status, bobs?.text.trim()]).toEqual([200, 200, ''])
  })
  await Promise.all(watches)
})
