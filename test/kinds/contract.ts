/**
 * Tests the contract of every stored kind through the registry, over the embedded DynamoDB. It follows kube-apiserver's
 * k8s.io/apiserver registry/rest/resttest, without HTTP, which test/functions covers.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { controllerContext } from '../../lib/controllers/internalcontext.ts'
import { StatusError } from '../../lib/meta/errors/status.ts'
import { dedupeOwnerReferences } from '../../lib/meta/object/ownerreferences.ts'
import type { Secret } from '../../lib/meta/schema/writeonly.ts'
import type { JsonObject, KubeObject, ObjectMeta, Status } from '../../lib/meta/types.ts'
import { createObject } from '../../lib/registry/create.ts'
import { type DeleteOptions, deleteObject, deleteObjects } from '../../lib/registry/delete.ts'
import type { StoredKind } from '../../lib/registry/kind.ts'
import { getObject, listObjects } from '../../lib/registry/read.ts'
import type { Outcome, Store } from '../../lib/registry/store.ts'
import { updateObject } from '../../lib/registry/update.ts'
import type { Server } from '../../lib/server/server.ts'
import type { Stored } from '../../lib/storage/interface.ts'
import { endless } from '../support/deadlines.ts'
import { admin, contextOf } from '../support/users.ts'

export interface KindFixtures {
  /** A valid spec, in its complete stored form. */
  valid: JsonObject
  /** Invalid specs, and the fields that the error names. */
  invalid: readonly { spec: JsonObject; fields: readonly string[] }[]
  /** Other valid specs. */
  updates: readonly JsonObject[]
}

export interface KindWorld {
  store: Store
  /** Returns a namespace that no other test uses, if the kind is namespaced. */
  namespace: string
  object(metadata?: ObjectMeta, spec?: JsonObject): KubeObject
  create(object: KubeObject, options?: { secrets?: Secret[]; context?: ReturnType<typeof contextOf> }): Promise<Outcome>
  read(name: string, context?: ReturnType<typeof contextOf>): Promise<Stored>
  change(
    name: string,
    transform: (live: KubeObject) => KubeObject,
    options?: { secrets?: Secret[]; context?: ReturnType<typeof contextOf>; subresource?: '' | 'status'; uid?: string },
  ): Promise<Outcome>
  remove(name: string, options?: DeleteOptions, context?: ReturnType<typeof contextOf>): ReturnType<typeof deleteObject>
}

let worlds = 0

/** Calls the registry for one kind, by default as an administrator. */
export function worldOf(kind: StoredKind<Server>, server: Server, spec: JsonObject = {}): KindWorld {
  const store = server.storeOf(kind)
  worlds += 1
  const namespace = kind.scope === 'Namespaced' ? `world-${worlds}` : ''
  const place = (name: string) => ({ namespace, name })
  return {
    store,
    namespace,
    object: (metadata = {}, own = spec) => ({
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: { ...(namespace && { namespace }), ...metadata },
      spec: structuredClone(own),
    }),
    create: (object, { secrets = [], context = contextOf(admin) } = {}) =>
      createObject(store, { object, secrets }, context),
    read: (name, context = contextOf(admin)) => getObject(store, { ...place(name), subresource: '' }, context),
    change: (name, transform, { secrets = [], context = contextOf(admin), subresource = '', uid } = {}) =>
      updateObject(
        store,
        {
          ...place(name),
          subresource,
          verb: 'update',
          transform: (live) => ({ object: transform(structuredClone(live)), secrets }),
          ...(uid !== undefined && { uid }),
        },
        context,
      ),
    remove: (name, options = {}, context = contextOf(admin)) => deleteObject(store, place(name), options, context),
  }
}

/** Returns the Status that an action fails with. */
export async function refusal(action: Promise<unknown>): Promise<Status & { code: number }> {
  const error = await action.then(
    () => new Error('it was not refused'),
    (error: unknown) => error,
  )
  if (error instanceof StatusError) return error.status as Status & { code: number }
  throw error
}

/** Returns the distinct fields that a Status names: kube-apiserver validates metadata of custom resources twice. */
export const causesOf = ({ details }: Status): string[] => [
  ...new Set((details?.causes ?? []).map(({ field = '' }) => field)),
]

export function describeKind(kind: StoredKind<Server>, server: () => Server, fixtures: KindFixtures): void {
  const { valid, invalid, updates } = fixtures
  const [another = {}] = updates
  let names = 0
  let world: KindWorld
  beforeEach(() => {
    world = worldOf(kind, server(), valid)
  })
  const fresh = () => `${kind.singular}-${++names}`
  const createStored = async (metadata: ObjectMeta = {}) => {
    const name = fresh()
    await world.create(world.object({ name, ...metadata }))
    return world.read(name)
  }
  const nameOf = ({ object }: Stored) => object.metadata.name ?? ''

  test('the log names the user, the key and the request of each change', async () => {
    const [name, context] = [fresh(), { ...contextOf(admin), requestId: 'a-request' }]
    const { stored } = await world.create(world.object({ name }), { context })
    await world.change(name, (live) => ({ ...live, spec: { ...live.spec, ...another } }), {
      context: { ...contextOf(admin), ...controllerContext('test', new Date(), endless) },
    })
    await world.remove(name, {}, contextOf(admin))
    const { changes } = await server().storage.changes(kind.table, stored.rv - 1)
    const user = { user: 'admin', key: 'key-of-admin', keyUid: 'uid-of-admin' }
    expect(changes.filter(({ key }) => key === stored.key).map(({ type, by }) => [type, by])).toEqual([
      ['ADDED', { ...user, requestId: 'a-request' }],
      ['MODIFIED', { user: 'system:controller:test' }],
      ['DELETED', user],
    ])
  })

  describe('create', () => {
    test('get returns what was written', async () => {
      const name = fresh()
      const { stored, created } = await world.create(
        world.object({ name, labels: { a: 'b' }, annotations: { c: 'd' } }),
      )
      const read = await world.read(name)
      expect(created).toBe(true)
      expect(read.object).toEqual(stored.object)
      expect(read.object.spec).toEqual(valid)
      expect(read.object.metadata).toMatchObject({ labels: { a: 'b' }, annotations: { c: 'd' } })
    })

    test('sets uid, creationTimestamp, generation and resourceVersion', async () => {
      const now = new Date('2026-11-21T12:00:00.7Z')
      const name = fresh()
      await world.create(world.object({ name }), { context: contextOf(admin, { now }) })
      const { metadata } = (await world.read(name)).object
      expect(metadata).toMatchObject({ name, generation: 1, creationTimestamp: '2026-11-21T12:00:00Z' })
      expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(metadata.resourceVersion).toMatch(/^[1-9]\d*$/)
    })

    test('generates names, and prefers a given name', async () => {
      const { stored } = await world.create(world.object({ generateName: 'gen-' }))
      expect(nameOf(stored)).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
      const given = await world.create(world.object({ generateName: 'gen-', name: fresh() }))
      expect(nameOf(given.stored)).not.toMatch(/^gen-/)
    })

    test('tries up to eight suffixes if a generated name is taken', async () => {
      const prefix = `${fresh()}-`
      /** The first name ends in bbbbb, and so do the next ones; the one after them in ccccc. */
      const nameAfter = async (taken: number) => {
        let drawn = 0
        const randomInt = () => (drawn++ < 5 * taken ? 0 : 1)
        const request = { object: world.object({ generateName: prefix }), secrets: [] }
        return createObject({ ...world.store, randomInt }, request, contextOf(admin))
      }
      expect(nameOf((await nameAfter(1)).stored)).toBe(`${prefix}bbbbb`)
      const { code, reason, message, details } = await refusal(nameAfter(8))
      expect([code, reason, details?.retryAfterSeconds]).toEqual([409, 'AlreadyExists', 1])
      expect(message).toContain('not able to generate a unique name')
      expect(nameOf((await nameAfter(7)).stored)).toBe(`${prefix}ccccc`)
    })

    test('truncates a long prefix to fit the suffix', async () => {
      const { stored } = await world.create(world.object({ generateName: 'x'.repeat(250) }))
      expect(nameOf(stored)).toMatch(/^x{58}[a-z0-9]{5}$/)
    })

    test.each(['', 'Upper', 'a_b', '-a', 'a..b', 'a'.repeat(254), 'a/b', '..'])(
      'refuses the name "%s"',
      async (name) => {
        const status = await refusal(world.create(world.object({ name })))
        expect([status.code, causesOf(status)]).toEqual([422, expect.arrayContaining(['metadata.name'])])
      },
    )

    test('refuses a name that is taken', async () => {
      const { object } = await createStored()
      const status = await refusal(world.create(world.object({ name: object.metadata.name ?? '' })))
      expect([status.code, status.reason]).toEqual([409, 'AlreadyExists'])
    })

    test('refuses a name whose object is being deleted, and says so', async () => {
      const held = await createStored({ finalizers: ['example.com/hold'] })
      await world.remove(nameOf(held))
      const status = await refusal(world.create(world.object({ name: nameOf(held) })))
      expect([status.code, status.reason]).toEqual([409, 'AlreadyExists'])
      expect(status.message).toContain('object is being deleted')
    })

    test('allows a deleted name again, for another object', async () => {
      const first = await createStored()
      await world.remove(nameOf(first))
      await world.create(world.object({ name: nameOf(first) }))
      expect((await world.read(nameOf(first))).object.metadata.uid).not.toBe(first.object.metadata.uid)
    })

    test('lets one of two concurrent requests succeed', async () => {
      const name = fresh()
      const both = await Promise.allSettled([1, 2].map(() => world.create(world.object({ name }))))
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    test.each(invalid)('returns errors for $fields', async ({ spec, fields }) => {
      const name = fresh()
      const status = await refusal(world.create(world.object({ name }, spec)))
      expect([status.code, causesOf(status)]).toEqual([422, fields])
      expect(status.details).toMatchObject({ name, group: kind.group, kind: kind.kind })
      expect((await refusal(world.read(name))).code).toBe(404)
    })

    test('returns the object of a dry run and stores nothing', async () => {
      const name = fresh()
      const { stored, created } = await world.create(world.object({ name }), {
        context: contextOf(admin, { dryRun: true }),
      })
      expect([created, stored.object.metadata.uid]).toEqual([true, expect.any(String)])
      expect((await refusal(world.read(name))).code).toBe(404)
    })
  })

  describe('get', () => {
    test('returns 404 for a missing object', async () => {
      const status = await refusal(world.read('nothing'))
      expect(status).toMatchObject({ code: 404, reason: 'NotFound', details: { name: 'nothing', kind: kind.plural } })
    })

    test('keeps the names of collections separate', async () => {
      const { object } = await createStored()
      const other = worldOf(kind, server())
      const found = other.read(object.metadata.name ?? '')
      if (kind.scope === 'Namespaced') expect((await refusal(found)).code).toBe(404)
      else expect((await found).object).toEqual(object)
    })
  })

  describe('update', () => {
    test.each(updates)('stores %j as a new generation', async (spec) => {
      const before = await createStored()
      const { stored, created } = await world.change(nameOf(before), (live) => ({
        ...live,
        spec: structuredClone(spec),
      }))
      expect([created, stored.object.spec, stored.object.metadata.generation]).toEqual([false, spec, 2])
      expect(stored.rv).toBeGreaterThan(before.rv)
      expect((await world.read(nameOf(before))).object).toEqual(stored.object)
    })

    test('writes nothing if nothing changes', async () => {
      const before = await createStored()
      const { stored } = await world.change(nameOf(before), (live) => live)
      expect(stored.object.metadata.resourceVersion).toBe(before.object.metadata.resourceVersion)
    })

    test('keeps the generation when labels and annotations change', async () => {
      const before = await createStored()
      const { stored } = await world.change(nameOf(before), (live) => ({
        ...live,
        metadata: { ...live.metadata, labels: { a: 'b' }, annotations: { c: 'd' } },
      }))
      expect(stored.object.metadata).toMatchObject({ generation: 1, labels: { a: 'b' }, annotations: { c: 'd' } })
      expect(stored.rv).toBeGreaterThan(before.rv)
    })

    test('returns 404 for a missing object', async () => {
      expect((await refusal(world.change('nothing', (live) => live))).code).toBe(404)
    })

    test('refuses a resourceVersion that is too old', async () => {
      const before = await createStored()
      await world.change(nameOf(before), (live) => ({ ...live, spec: another }))
      const status = await refusal(world.change(nameOf(before), () => ({ ...before.object, spec: {} })))
      expect([status.code, status.reason]).toEqual([409, 'Conflict'])
      expect((await world.read(nameOf(before))).object.spec).toEqual(another)
    })

    test.each([undefined, '', '0'])('refuses the resourceVersion %j', async (resourceVersion) => {
      const before = await createStored()
      const status = await refusal(
        world.change(nameOf(before), ({ metadata: { resourceVersion: _, ...metadata }, ...live }) => ({
          ...live,
          metadata: { ...metadata, ...(resourceVersion !== undefined && { resourceVersion }) },
        })),
      )
      expect([status.code, causesOf(status)]).toEqual([422, ['metadata.resourceVersion']])
    })

    test('refuses a uid other than that of the object', async () => {
      const before = await createStored()
      const status = await refusal(world.change(nameOf(before), (live) => live, { uid: 'other' }))
      expect([status.code, status.reason]).toEqual([409, 'Conflict'])
    })

    test.each([
      { field: 'uid', change: { uid: 'other' } },
      { field: 'name', change: { name: 'other' } },
      { field: 'deletionTimestamp', change: { deletionTimestamp: '2001-01-01T00:00:00Z' } },
    ])('refuses another $field', async ({ field, change }) => {
      const before = await createStored()
      const status = await refusal(
        world.change(nameOf(before), (live) => ({ ...live, metadata: { ...live.metadata, ...change } })),
      )
      expect([status.code, causesOf(status)]).toEqual([422, [`metadata.${field}`]])
      expect((await world.read(nameOf(before))).object.metadata).toEqual(before.object.metadata)
    })

    test.each([
      { field: 'generation', change: { generation: 77 } },
      { field: 'creationTimestamp', change: { creationTimestamp: '2001-01-01T00:00:00Z' } },
    ])('keeps the $field of the stored object', async ({ change }) => {
      const before = await createStored()
      await world.change(nameOf(before), (live) => ({ ...live, metadata: { ...live.metadata, ...change } }))
      expect((await world.read(nameOf(before))).object.metadata).toEqual(before.object.metadata)
    })

    test.each(invalid)('returns errors for $fields', async ({ spec, fields }) => {
      const before = await createStored()
      const status = await refusal(world.change(nameOf(before), (live) => ({ ...live, spec })))
      expect([status.code, causesOf(status)]).toEqual([422, fields])
      expect((await world.read(nameOf(before))).object).toEqual(before.object)
    })

    test('changes status only through the subresource, which changes nothing else', async () => {
      const before = await createStored()
      const plain = await world.change(nameOf(before), (live) => ({ ...live, status: { phase: 'Mine' } }))
      expect(plain.stored.object.status).toEqual(before.object.status)
      const { stored } = await world.change(
        nameOf(before),
        (live) => ({ ...live, spec: another, metadata: { ...live.metadata, labels: { a: 'b' } }, status: { x: 1 } }),
        { subresource: 'status' },
      )
      expect(stored.object.spec).toEqual(before.object.spec)
      expect(stored.object.metadata).toMatchObject({ generation: 1 })
      expect(stored.object.metadata).not.toHaveProperty('labels')
    })

    test('returns the object of a dry run and stores nothing', async () => {
      const before = await createStored()
      const { stored } = await world.change(nameOf(before), (live) => ({ ...live, spec: another }), {
        context: contextOf(admin, { dryRun: true }),
      })
      expect(stored.object.spec).toEqual(another)
      expect((await world.read(nameOf(before))).object).toEqual(before.object)
    })

    test('loses neither of two concurrent updates', async () => {
      const before = await createStored()
      const label = (name: string) =>
        world.change(nameOf(before), (live) => ({
          ...live,
          metadata: { ...live.metadata, labels: { ...live.metadata.labels, [name]: 'yes' } },
        }))
      await Promise.all(['a', 'b', 'c'].map(label))
      expect((await world.read(nameOf(before))).object.metadata.labels).toEqual({ a: 'yes', b: 'yes', c: 'yes' })
    })
  })

  describe('delete', () => {
    test('returns 404 for a missing object', async () => {
      expect((await refusal(world.remove('nothing'))).code).toBe(404)
    })

    test('removes an object without finalizers at once', async () => {
      const before = await createStored()
      const { gone, stored } = await world.remove(nameOf(before))
      expect([gone, stored.object.metadata.uid]).toEqual([true, before.object.metadata.uid])
      expect((await refusal(world.read(nameOf(before)))).code).toBe(404)
      expect((await refusal(world.remove(nameOf(before)))).code).toBe(404)
    })

    test('marks an object with finalizers, and sets the timestamp only once', async () => {
      const before = await createStored({ finalizers: ['example.com/hold'] })
      const at = (now: string) => world.remove(nameOf(before), {}, contextOf(admin, { now: new Date(now) }))
      const first = await at('2026-11-21T12:00:00Z')
      expect(first.gone).toBe(false)
      expect(first.stored.object.metadata).toMatchObject({
        deletionTimestamp: '2026-11-21T12:00:00Z',
        deletionGracePeriodSeconds: 0,
        generation: 2,
      })
      const second = await at('2026-11-21T13:00:00Z')
      expect(second.stored.object).toEqual(first.stored.object)
    })

    test('then allows only the removal of finalizers, and the last one removes the object', async () => {
      const before = await createStored({ finalizers: ['example.com/a', 'example.com/b'] })
      await world.remove(nameOf(before))
      const set = (...finalizers: string[]) =>
        world.change(nameOf(before), (live) => ({ ...live, metadata: { ...live.metadata, finalizers } }))
      expect(causesOf(await refusal(set('example.com/a', 'example.com/c')))).toEqual(['metadata.finalizers'])
      expect((await set('example.com/b')).stored.object.metadata.finalizers).toEqual(['example.com/b'])
      await set()
      expect((await refusal(world.read(nameOf(before)))).code).toBe(404)
    })

    test('cannot be undone', async () => {
      const before = await createStored({ finalizers: ['example.com/hold'] })
      await world.remove(nameOf(before))
      const { stored } = await world.change(
        nameOf(before),
        ({ metadata: { deletionTimestamp: _, deletionGracePeriodSeconds: __, ...metadata }, ...live }) => ({
          ...live,
          metadata: { ...metadata, labels: { a: 'b' } },
        }),
      )
      expect(stored.object.metadata).toMatchObject({
        labels: { a: 'b' },
        deletionTimestamp: expect.any(String),
        deletionGracePeriodSeconds: 0,
      })
    })

    test.each([
      { what: 'uid', of: () => ({ uid: 'other' }) },
      { what: 'resourceVersion', of: ({ rv }: Stored) => ({ resourceVersion: String(rv + 1000) }) },
    ])('refuses a precondition on $what that does not hold', async ({ of }) => {
      const before = await createStored()
      const status = await refusal(world.remove(nameOf(before), { preconditions: of(before) }))
      expect([status.code, status.reason]).toEqual([409, 'Conflict'])
      expect((await world.read(nameOf(before))).object).toEqual(before.object)
    })

    test('accepts preconditions that hold', async () => {
      const before = await createStored()
      const { uid = '', resourceVersion = '' } = before.object.metadata
      expect((await world.remove(nameOf(before), { preconditions: { uid, resourceVersion } })).gone).toBe(true)
    })

    test.each([
      { propagationPolicy: 'Orphan', finalizer: 'orphan' },
      { propagationPolicy: 'Foreground', finalizer: 'foregroundDeletion' },
    ] as const)('$propagationPolicy waits for the garbage collector', async ({ propagationPolicy, finalizer }) => {
      const before = await createStored()
      const { gone, stored } = await world.remove(nameOf(before), { propagationPolicy })
      expect([gone, stored.object.metadata.finalizers]).toEqual([false, [finalizer]])
      // A second request for background deletion succeeds.
      expect((await world.remove(nameOf(before), { propagationPolicy: 'Background' })).gone).toBe(true)
    })

    test('removes nothing on a dry run', async () => {
      const before = await createStored()
      const { gone } = await world.remove(nameOf(before), {}, contextOf(admin, { dryRun: true }))
      expect(gone).toBe(true)
      expect((await world.read(nameOf(before))).object).toEqual(before.object)
    })
  })

  describe('list', () => {
    const listNames = (request: Partial<Parameters<typeof listObjects>[1]> = {}) =>
      listObjects(
        world.store,
        { ...(world.namespace && { namespace: world.namespace }), ...request },
        'list',
        contextOf(admin),
      )
    const label = (value: string) => ({ matches: ({ object }: Stored) => object.metadata.labels?.list === value })

    test('returns the matching objects, sorted by name, at one revision', async () => {
      const mark = fresh()
      for (const name of ['b', 'a']) {
        await world.create(world.object({ name: `${mark}-${name}`, labels: { list: mark } }))
      }
      const { items, rv } = await listNames(label(mark))
      expect(items.map((one) => nameOf(one.read()))).toEqual([`${mark}-a`, `${mark}-b`])
      expect(Math.max(...items.map((item) => item.rv))).toBeLessThanOrEqual(rv)
      expect((await listNames(label('nothing'))).items).toEqual([])
    })

    test('keeps the revision of the first page on further pages', async () => {
      const mark = fresh()
      for (const name of ['a', 'b', 'c']) {
        await world.create(world.object({ name: `${mark}-${name}`, labels: { list: mark } }))
      }
      const first = await listNames({ ...label(mark), limit: 2 })
      await world.remove(`${mark}-c`)
      await world.create(world.object({ name: `${mark}-d`, labels: { list: mark } }))
      const rest = await listNames({ ...label(mark), after: first.next ?? '', at: first.rv })
      expect([...first.items, ...rest.items].map((one) => nameOf(one.read()))).toEqual([
        `${mark}-a`,
        `${mark}-b`,
        `${mark}-c`,
      ])
    })

    test('deletes a collection and ignores objects that are already gone', async () => {
      const mark = fresh()
      for (const name of ['a', 'b']) {
        await world.create(world.object({ name: `${mark}-${name}`, labels: { list: mark } }))
      }
      const { items } = await listNames(label(mark))
      await world.remove(`${mark}-a`)
      await deleteObjects(world.store, items, { options: {}, hasTime: () => true, done: () => {} }, contextOf(admin))
      expect((await listNames(label(mark))).items).toEqual([])
    })
  })

  describe('watch', () => {
    test('delivers every change once, in order, with the previous state', async () => {
      const name = fresh()
      const { storage } = world.store
      const start = await storage.revision(kind.table)
      await world.create(world.object({ name }))
      await world.change(name, (live) => ({ ...live, spec: another }))
      await world.remove(name)
      const { changes } = await storage.changes(kind.table, start)
      const own = changes.filter(({ stored }) => nameOf(stored) === name)
      expect(own.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
      expect(own[1]?.previous?.object.spec).toEqual(valid)
      expect(own.map(({ rv }) => rv)).toEqual([...own.map(({ rv }) => rv)].sort((a, b) => a - b))
    })
  })

  describe('owners', () => {
    const reference = ({ object: { apiVersion, kind, metadata } }: Stored, more: object = {}) => ({
      apiVersion,
      kind,
      name: metadata.name ?? '',
      uid: metadata.uid ?? '',
      ...more,
    })

    test('keeps references and merges duplicates', async () => {
      const owner = await createStored()
      const name = fresh()
      const doubled = world.object({ name, ownerReferences: [reference(owner), reference(owner)] })
      await world.create(dedupeOwnerReferences(doubled, () => undefined))
      expect((await world.read(name)).object.metadata.ownerReferences).toEqual([reference(owner)])
    })

    test('refuses two controllers', async () => {
      const [one, two] = [await createStored(), await createStored()]
      const ownerReferences = [reference(one, { controller: true }), reference(two, { controller: true })]
      const status = await refusal(world.create(world.object({ name: fresh(), ownerReferences })))
      expect([status.code, causesOf(status)]).toEqual([422, ['metadata.ownerReferences']])
    })

    // Specification, section 7.
    test('refuses blockOwnerDeletion of an owner that the user may not delete', async () => {
      const gone = { apiVersion: 'v1', kind: 'Pod', name: 'gone', uid: 'gone', blockOwnerDeletion: true }
      const status = await refusal(world.create(world.object({ name: fresh(), ownerReferences: [gone] })))
      expect(status.code).toBe(422)
    })

    test('refuses more than forty', async () => {
      const ownerReferences = Array.from({ length: 41 }, (_, n) => ({
        apiVersion: 'v1',
        kind: 'X',
        name: 'x',
        uid: `${n}`,
      }))
      const status = await refusal(world.create(world.object({ name: fresh(), ownerReferences })))
      expect([status.code, causesOf(status)]).toEqual([422, ['metadata.ownerReferences']])
    })
  })
}
