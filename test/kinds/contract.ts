/**
 * Tests what each stored kind does through the registry, over a store. What kube-apiserver defines for all kinds is in
 * test/conformance, and the verbs of each kind are in test/functions.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import { internalContext } from '../../lib/access/users/internalcontext.ts'
import { StatusError } from '../../lib/engine/meta/errors/status.ts'
import type { Secret } from '../../lib/engine/meta/schema/writeonly.ts'
import type { JsonObject, KubeObject, ObjectMeta, Status } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import { type DeleteOptions, deleteObject, deleteObjects } from '../../lib/engine/registry/delete.ts'
import type { StoredKind } from '../../lib/engine/registry/kind.ts'
import { getObject, listObjects } from '../../lib/engine/registry/read.ts'
import type { Outcome, Store } from '../../lib/engine/registry/store.ts'
import { updateObject } from '../../lib/engine/registry/update.ts'
import type { Stored } from '../../lib/engine/storage/interface.ts'
import type { Server } from '../../lib/server/server.ts'
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
      context: { ...contextOf(admin), ...internalContext('system:controller:test', new Date(), endless) },
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
    test('sets uid, creationTimestamp, generation and resourceVersion', async () => {
      const now = new Date('2026-11-21T12:00:00.7Z')
      const name = fresh()
      await world.create(world.object({ name }), { context: contextOf(admin, { now }) })
      const { metadata } = (await world.read(name)).object
      expect(metadata).toMatchObject({ name, generation: 1, creationTimestamp: '2026-11-21T12:00:00Z' })
      expect(metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(metadata.resourceVersion).toMatch(/^[1-9]\d*$/)
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

    test.each(invalid)('returns errors for $fields', async ({ spec, fields }) => {
      const name = fresh()
      const status = await refusal(world.create(world.object({ name }, spec)))
      expect([status.code, causesOf(status)]).toEqual([422, fields])
      expect(status.details).toMatchObject({ name, group: kind.group, kind: kind.kind })
      expect((await refusal(world.read(name))).code).toBe(404)
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

    // threat: exchange-7
    test('refuses to add, change and remove a label of the server, and keeps it', async () => {
      const [name, label] = [fresh(), 'management.platform/from']
      const why = `metadata.labels: Forbidden: ${label}: only the server sets labels of management.platform/`
      expect((await refusal(world.create(world.object({ name, labels: { [label]: 'a' } })))).message).toContain(why)
      await world.create(world.object({ name }))
      const live = await world.read(name)
      const object = { ...live.object, metadata: { ...live.object.metadata, labels: { [label]: 'a' } } }
      const write = () => ({ type: 'put' as const, object, internal: live.internal })
      await server().storage.update(kind.table, live.key, write, { deadline: endless })
      for (const labels of [{ [label]: 'b' }, {}, { [label]: 'a', 'management.platform/more': '' }]) {
        const changed = world.change(name, (one) => ({ ...one, metadata: { ...one.metadata, labels } }))
        expect(await refusal(changed)).toMatchObject({ code: 422, reason: 'Invalid' })
      }
      const labels = { [label]: 'a', own: 'b' }
      await world.change(name, (one) => ({ ...one, metadata: { ...one.metadata, labels } }))
      expect((await world.read(name)).object.metadata.labels).toEqual(labels)
    })

    test.each(invalid)('returns errors for $fields', async ({ spec, fields }) => {
      const before = await createStored()
      const status = await refusal(world.change(nameOf(before), (live) => ({ ...live, spec })))
      expect([status.code, causesOf(status)]).toEqual([422, fields])
      expect((await world.read(nameOf(before))).object).toEqual(before.object)
    })
  })

  test('deletes a collection and ignores objects that are already gone', async () => {
    const mark = fresh()
    for (const name of [`${mark}-a`, `${mark}-b`]) await world.create(world.object({ name, labels: { list: mark } }))
    const matches = ({ object }: Stored) => object.metadata.labels?.list === mark
    const place = { ...(world.namespace && { namespace: world.namespace }), matches }
    const list = async () => (await listObjects(world.store, place, 'list', contextOf(admin))).items
    const items = await list()
    await world.remove(`${mark}-a`)
    await deleteObjects(world.store, items, { options: {}, hasTime: () => true, done: () => {} }, contextOf(admin))
    expect([items.length, await list()]).toEqual([2, []])
  })

  // As in kube-apiserver.
  test('lets an administrator without a scope refer to an owner of an unknown kind that it blocks', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', name: 'gone', uid: 'gone', blockOwnerDeletion: true }
    const { stored } = await world.create(world.object({ name: fresh(), ownerReferences: [pod] }))
    expect(stored.object.metadata.ownerReferences).toEqual([pod])
  })
}
