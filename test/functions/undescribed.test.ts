/** Writes to an object with members that a later release has stored: they are kept, whatever the client sends. */
import { beforeAll, describe, expect, test } from 'vitest'
import { table } from '../../lib/apis/management/v1/ownedaccesskey.table.ts'
import { objectKey } from '../../lib/registry/store.ts'
import { endless } from '../support/deadlines.ts'
import { useFunctions } from '../support/functions.ts'
import { accessKeys, callsOf, objectOf } from './stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)
const later = { ranges: ['192.0.2.0/24'], deep: { at: 1 } }
const type = (text: string) => ({ headers: { 'content-type': text } })

/** Stores `later` in the spec and its owner in managedFields, as a function of a later release does. */
async function store(name: string): Promise<void> {
  await make({ name }, { displayName: 'x', scope: { clusters: [{ cluster: 'c' }] } })
  await functions.get().parts.storage.update(
    table,
    objectKey('', name),
    (live) => {
      if (!live) throw new Error('no key')
      const { metadata, spec } = live.object
      const [entry] = metadata.managedFields ?? []
      const fields = { ...(entry?.fieldsV1 as object), 'f:spec': { 'f:ranges': {}, 'f:displayName': {} } }
      const managedFields = [{ ...entry, fieldsV1: fields }] as NonNullable<typeof metadata.managedFields>
      const object = {
        ...live.object,
        metadata: { ...metadata, managedFields },
        spec: { ...(spec as object), ...later },
      }
      return { type: 'put', object, internal: live.internal }
    },
    { deadline: endless },
  )
}

const send = {
  'a merge patch': (name: string) =>
    call('patch', {
      parameters: { name },
      ...type('application/merge-patch+json'),
      body: { spec: { displayName: 'y', ranges: null } },
    }),
  'a JSON patch': (name: string) =>
    call('patch', {
      parameters: { name },
      ...type('application/json-patch+json'),
      body: [{ op: 'replace', path: '/spec/displayName', value: 'y' }],
    }),
  'an apply': (name: string) =>
    call('patch', {
      parameters: { name },
      query: { fieldManager: 'one', force: 'true' },
      ...type('application/apply-patch+yaml'),
      body: objectOf(accessKeys, { name }, { displayName: 'y' }),
    }),
  'a PUT without them': async (name: string) => {
    const { metadata } = await read(name)
    const spec = { displayName: 'y', scope: { clusters: [{ cluster: 'c' }] } }
    return call('update', { parameters: { name }, body: objectOf(accessKeys, metadata, spec) })
  },
  'a PUT with other values that asks to ignore what is unknown': async (name: string) => {
    const { metadata } = await read(name)
    const spec = { displayName: 'y', scope: { clusters: [{ cluster: 'c' }] }, ranges: ['0.0.0.0/0'], deep: null }
    const query = { fieldValidation: 'Ignore' }
    return call('update', { parameters: { name }, query, body: objectOf(accessKeys, metadata, spec) })
  },
}

describe.each(Object.entries(send))('%s', (title, write) => {
  const name = title.toLowerCase().replaceAll(' ', '-')
  beforeAll(() => store(name))

  test('changes what this release knows and keeps the rest', async () => {
    const before = await read(name)
    expect(before.spec).toMatchObject(later)
    const { status, json } = await write(name)
    expect([status, json.message]).toEqual([200, undefined])
    const { spec, metadata } = await read(name)
    expect(spec).toEqual({ displayName: 'y', scope: { clusters: [{ cluster: 'c' }] }, ...later })
    expect(metadata.generation).toBe(before.metadata.generation + 1)
    expect(JSON.stringify(metadata.managedFields)).toContain('f:ranges')
  })
})

test.each([
  ['sets', 'merge-patch+json', { spec: { ranges: [] } }],
  ['adds to', 'json-patch+json', [{ op: 'add', path: '/spec/ranges/-', value: '0.0.0.0/0' }]],
  ['removes', 'json-patch+json', [{ op: 'remove', path: '/spec/ranges' }]],
])('a patch that %s a member of a later release is a 422', async (what, media, body) => {
  const name = what.replaceAll(' ', '-')
  await store(name)
  const { status } = await call('patch', { parameters: { name }, ...type(`application/${media}`), body })
  expect(status).toBe(422)
  expect((await read(name)).spec).toMatchObject(later)
})

test('a write that changes only members of a later release changes nothing', async () => {
  await store('same')
  const { resourceVersion, generation } = (await read('same')).metadata
  const body = { spec: { ranges: null } }
  await call('patch', { parameters: { name: 'same' }, ...type('application/merge-patch+json'), body })
  expect((await read('same')).metadata).toMatchObject({ resourceVersion, generation })
})

test('a key with a scope role of a later release can still be disabled, but not get another such role', async () => {
  await make({ name: 'role' }, { scope: { clusters: [{ cluster: 'c' }] } })
  const roles = [{ role: 'later' }]
  await functions.get().parts.storage.update(
    table,
    'role',
    (live) => {
      if (!live) throw new Error('no key')
      return { type: 'put', object: { ...live.object, spec: { scope: { roles } } }, internal: live.internal }
    },
    { deadline: endless },
  )
  const patch = (spec: object) =>
    call('patch', { parameters: { name: 'role' }, ...type('application/merge-patch+json'), body: { spec } })
  expect((await patch({ disabled: true })).status).toBe(200)
  expect((await read('role')).spec).toEqual({ disabled: true, scope: { roles } })
  expect((await patch({ scope: { roles: [...roles, ...roles] } })).status).toBe(422)
})
