/** Tests in which order a plan takes effect, and which writes a kind is asked to plan. */

import { beforeEach, expect, test } from 'vitest'
import { administers } from '../../../../lib/access/users/administrators.ts'
import { authorOf } from '../../../../lib/access/users/author.ts'
import { invalid } from '../../../../lib/engine/meta/errors/fielderror.ts'
import { conflict, StatusError } from '../../../../lib/engine/meta/errors/status.ts'
import { object, string } from '../../../../lib/engine/meta/schema/schema.ts'
import type { KubeObject, ObjectMeta } from '../../../../lib/engine/meta/types.ts'
import { beginCreate, createObject } from '../../../../lib/engine/registry/create.ts'
import { deleteObject } from '../../../../lib/engine/registry/delete.ts'
import type { Planned, StoredKind, Write } from '../../../../lib/engine/registry/kind.ts'
import { refuseInvalid, type Store } from '../../../../lib/engine/registry/store.ts'
import { updateObject } from '../../../../lib/engine/registry/update.ts'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { bindToMaker } from '../../../../lib/keys/credential/maker.ts'
import { endless } from '../../../support/deadlines.ts'
import { admin, contextOf } from '../../../support/users.ts'
import { newWorld, type World } from '../controllers/world.ts'

const kind = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  singular: 'thing',
  scope: 'Cluster',
  description: '',
  archetype: 'stored',
  schema: { spec: object('', { text: string('', { maxLength: 8 }) }), status: object('', { text: string('') }) },
  table: { resource: 'things', partitions: () => ['all'], activity: false, counted: () => true },
  columns: [],
  selectableFields: [],
} as unknown as StoredKind

let world: World
/** What the kind plans. */
let plan: (write: Write) => Planned
/** The types of the writes that were planned. */
let planned: string[]
let store: Store
beforeEach(async () => {
  world = await newWorld()
  plan = () => ({})
  planned = []
  store = storeOver(world.storage)
})

const storeOver = (storage: Storage): Store => ({
  kind,
  storage,
  uuid: () => 'uid',
  randomInt: () => 0,
  mayDelete: async ({ name }) => name !== 'foreign',
  administers,
  guard: bindToMaker,
  authorOf,
  strategy: {
    plan(write) {
      planned.push(write.type)
      return plan(write)
    },
  },
})

const thing = (text = 'a', metadata: ObjectMeta = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
  spec: { text },
})
const foreign = { apiVersion: 'v1', kind: 'Pod', name: 'foreign', uid: 'u', blockOwnerDeletion: true }
const finalizers = ['plain']
const WARNED = expect.stringContaining('metadata.finalizers: "plain"')

/** Makes a write, and returns its code and message, its warnings, and how it was planned. */
async function outcomeOf(act: (context: ReturnType<typeof contextOf>) => Promise<unknown>, dryRun = false) {
  const context = contextOf(admin, { dryRun })
  const answer = await act(context).then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof StatusError) return `${error.status.code} ${error.status.message}`
      throw error
    },
  )
  return { answer, warnings: context.warnings }
}

const create = (text?: string, metadata?: ObjectMeta, dryRun?: boolean) =>
  outcomeOf((context) => createObject(store, { object: thing(text, metadata), secrets: [] }, context), dryRun)
const update = (change: (live: KubeObject) => KubeObject, subresource: '' | 'status' = '') =>
  outcomeOf((context) =>
    updateObject(
      store,
      {
        namespace: '',
        name: 'a',
        subresource,
        verb: 'update',
        transform: (live) => ({ object: change(live), secrets: [] }),
      },
      context,
    ),
  )
const remove = (options = {}) =>
  outcomeOf((context) => deleteObject(store, { namespace: '', name: 'a' }, options, context))
const withText = (text: string) => (live: KubeObject) => ({ ...live, spec: { text } })
const everything: Planned = {
  warnings: ['planned'],
  refusal: 'refused',
  forbidsChange: 'unchangeable',
  quota: { name: 'few', partition: 'all', most: 0 },
}
const without = (...members: (keyof Planned)[]): Planned =>
  Object.fromEntries(Object.entries(everything).filter(([name]) => !members.includes(name as keyof Planned)))

test('what the schema refuses is not planned', async () => {
  expect((await create('too long for it')).answer).toMatch(/^422 .*spec.text: Too long/)
  expect(planned).toEqual([])
})

test('a create says what is invalid, then the warnings, then who refuses it', async () => {
  const metadata = { finalizers, ownerReferences: [foreign] }
  plan = ({ draft }) => {
    refuseInvalid(draft?.object ?? thing(), [invalid('spec.text', 'a', 'is not b')])
    return everything
  }
  expect(await create('a', metadata)).toEqual({ answer: expect.stringMatching(/^422 .*is not b$/), warnings: [] })
  const warnings = [WARNED, 'planned']
  plan = () => everything
  expect(await create('a', metadata)).toEqual({ answer: expect.stringMatching(/^403 .*: refused$/), warnings })
  plan = () => ({ ...everything, refusal: conflict({ group: '', resource: 'things' }, 'a', 'overtaken') })
  expect(await create('a', metadata)).toEqual({ answer: expect.stringMatching(/^409 .*: overtaken$/), warnings })
  plan = () => without('refusal')
  expect(await create('a', metadata)).toEqual({ answer: expect.stringMatching(/^422 .*blockOwnerDeletion/), warnings })
  expect(await create('a', { finalizers })).toEqual({ answer: expect.stringMatching(/^403 .*quota: few/), warnings })
  plan = () => without('refusal', 'quota')
  expect(await create('a', { finalizers })).toEqual({ answer: 'done', warnings })
})

test('an update is refused for itself, then because nothing may change, then for its owners', async () => {
  await create()
  const change = (live: KubeObject) => ({
    ...live,
    metadata: { ...live.metadata, finalizers, ownerReferences: [foreign] },
  })
  const warnings = [WARNED, 'planned']
  plan = () => everything
  expect(await update(change)).toEqual({ answer: expect.stringMatching(/^403 .*: refused$/), warnings })
  plan = () => without('refusal')
  expect(await update(change)).toEqual({ answer: expect.stringMatching(/^403 .*: unchangeable$/), warnings })
  expect(await update((live) => live)).toEqual({ answer: 'done', warnings: ['planned'] })
  plan = () => without('refusal', 'forbidsChange')
  expect(await update(change)).toEqual({ answer: expect.stringMatching(/^422 .*blockOwnerDeletion/), warnings })
  expect(await update(withText('b'))).toEqual({ answer: 'done', warnings: ['planned'] })
})

test('each write is planned once, and the removal of the last finalizer as a removal as well', async () => {
  await create('a', { finalizers: ['example.com/x'] })
  await update(withText('b'))
  await update((live) => ({ ...live, status: { text: 'c' } }), 'status')
  await remove()
  await update((live) => ({ ...live, metadata: { ...live.metadata, finalizers: [] } }))
  await create()
  await remove()
  expect(planned).toEqual(['create', 'update', 'status', 'mark', 'update', 'delete', 'create', 'delete'])
})

test('what a plan stores has the generation that it raises, also in the items', async () => {
  plan = ({ type, draft }) => ({
    ...(draft && { object: { ...draft.object, spec: { text: type } }, internal: { by: type } }),
    changesSpec: true,
    raisesGeneration: true,
    items: ({ metadata }) => [
      { op: 'put', pk: 'thing', sk: '#', attributes: { generation: metadata.generation ?? 0 } },
    ],
  })
  await create()
  await update((live) => live)
  const stored = await world.storage.get(kind.table, 'a')
  expect(stored).toMatchObject({
    object: { metadata: { generation: 3 }, spec: { text: 'update' } },
    internal: { by: 'update' },
  })
  expect(await getCompanion(world.storage, { pk: 'thing', sk: '#' })).toMatchObject({ attributes: { generation: 3 } })
})

test('a deletion warns after it, also in a dry run, and not if it is refused', async () => {
  await create()
  plan = () => ({ deleteWarning: 'something stays' })
  expect((await remove({ preconditions: { uid: 'other' } })).warnings).toEqual([])
  const dry = (context: ReturnType<typeof contextOf>) => deleteObject(store, { namespace: '', name: 'a' }, {}, context)
  expect(await outcomeOf(dry, true)).toEqual({ answer: 'done', warnings: ['something stays'] })
  expect(await remove()).toEqual({ answer: 'done', warnings: ['something stays'] })
})

test('an item that exists is the error that the plan has for it, or else the caller explains it', async () => {
  const items = () => [{ op: 'put', pk: 'thing', sk: '#', attributes: {}, ifAbsent: true } as const]
  await world.storage.writeCompanion({ pk: 'thing', sk: '#', attributes: {} }, { deadline: endless })
  plan = () => ({ items, duplicate: invalid('spec.text', 'a', 'is taken') })
  expect((await create()).answer).toMatch(/^422 .*is taken$/)
  plan = () => ({ items })
  await expect(create()).rejects.toMatchObject({ code: 'CompanionExists' })
})

test('a new object has its items before the commit, and reads them again only after a lost race', async () => {
  const reads: string[] = []
  const items = () => {
    reads.push('items')
    return []
  }
  plan = () => ({ items })
  const request = { object: thing(), secrets: [] }
  const creation = await beginCreate(store, request, contextOf(admin))
  expect(reads).toEqual(['items'])
  await creation.commit()
  expect(reads).toEqual(['items'])

  await remove()
  reads.length = 0
  const lost: Storage = {
    ...world.storage,
    async update(table, key, mutate, options) {
      await mutate(undefined)
      return world.storage.update(table, key, mutate, options)
    },
  }
  await createObject(storeOver(lost), request, contextOf(admin))
  expect(reads).toEqual(['items', 'items'])
})

test('a dry run of a create says that the object exists, and then what its items refuse', async () => {
  await create()
  plan = () => ({
    items: () => {
      throw new Error('the items were read')
    },
  })
  expect((await create('a', {}, true)).answer).toMatch(/^409 /)
  await expect(create('a', { name: 'b' }, true)).rejects.toThrow('the items were read')
})
