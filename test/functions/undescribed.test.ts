/** Reads and writes an object with members that a later release has stored: they are kept, whatever the client sends, and not shown. */
import { beforeAll, describe, expect, test } from 'vitest'
import { objectKey } from '../../lib/engine/registry/store.ts'
import { table } from '../../lib/keys/ownedaccesskey.table.ts'
import { endless } from '../support/deadlines.ts'
import { useFunctions } from '../support/functions.ts'
import { accessKeys, callsOf, objectOf } from './stored/fixtures.ts'

const functions = useFunctions()
const { make, read, put, patch } = callsOf(functions, accessKeys)
const later = { ranges: ['192.0.2.0/24'], deep: { at: 1 } }

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

/** Returns the spec and the metadata as they are stored. */
async function stored(name: string) {
  const found = await functions.get().parts.storage.get(table, objectKey('', name))
  if (!found) throw new Error(`no key ${name}`)
  return found.object as unknown as { spec: object; metadata: { generation: number; managedFields?: object[] } }
}

const send = {
  'a merge patch': (name: string) => patch(name, 'merge', { spec: { displayName: 'y', ranges: null } }),
  'a JSON patch': (name: string) => patch(name, 'json', [{ op: 'replace', path: '/spec/displayName', value: 'y' }]),
  'an apply': (name: string) => {
    const query = { fieldManager: 'one', force: 'true' }
    return patch(name, 'apply', objectOf(accessKeys, { name }, { displayName: 'y' }), { query })
  },
  'a PUT without them': async (name: string) => {
    const { metadata } = await read(name)
    const spec = { displayName: 'y', scope: { clusters: [{ cluster: 'c' }] } }
    return put(name, objectOf(accessKeys, metadata, spec))
  },
  'a PUT of what was read': async (name: string) => {
    const { metadata, spec } = await read(name)
    return put(name, objectOf(accessKeys, metadata, { ...spec, displayName: 'y' }))
  },
  'a PUT with other values that asks to ignore what is unknown': async (name: string) => {
    const { metadata } = await read(name)
    const spec = { displayName: 'y', scope: { clusters: [{ cluster: 'c' }] }, ranges: ['0.0.0.0/0'], deep: null }
    return put(name, objectOf(accessKeys, metadata, spec), { query: { fieldValidation: 'Ignore' } })
  },
}

describe.each(Object.entries(send))('%s', (title, write) => {
  const name = title.toLowerCase().replaceAll(' ', '-')
  beforeAll(() => store(name))

  // threat: releases-3
  test('changes what this release knows and keeps the rest', async () => {
    const before = await stored(name)
    expect(before.spec).toMatchObject(later)
    const { status, json } = await write(name)
    expect([status, json.message]).toEqual([200, undefined])
    const described = { displayName: 'y', scope: { clusters: [{ cluster: 'c' }] } }
    expect([json.spec, (await read(name)).spec]).toEqual([described, described])
    const { spec, metadata } = await stored(name)
    expect(spec).toEqual({ ...described, ...later })
    expect(metadata.generation).toBe(before.metadata.generation + 1)
    expect(JSON.stringify(metadata.managedFields)).toContain('f:ranges')
  })
})

test.each<[string, 'merge' | 'json', object]>([
  ['sets', 'merge', { spec: { ranges: [] } }],
  ['adds to', 'json', [{ op: 'add', path: '/spec/ranges/-', value: '0.0.0.0/0' }]],
  ['removes', 'json', [{ op: 'remove', path: '/spec/ranges' }]],
])('a patch that %s a member of a later release is a 422', async (what, form, body) => {
  const name = what.replaceAll(' ', '-')
  await store(name)
  expect(await patch(name, form, body)).toMatchObject({ status: 422 })
  expect((await stored(name)).spec).toMatchObject(later)
})

test('a write that changes only members of a later release changes nothing', async () => {
  await store('same')
  const { resourceVersion, generation } = (await read('same')).metadata
  await patch('same', 'merge', { spec: { ranges: null } })
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
  const change = (spec: object) => patch('role', 'merge', { spec })
  expect((await change({ disabled: true })).status).toBe(200)
  expect((await read('role')).spec).toEqual({ disabled: true, scope: { roles } })
  expect((await change({ scope: { roles: [...roles, ...roles] } })).status).toBe(422)
})
