/** What becomes of dependents and owners, driven by the stream and by the change log alike. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createChangelogCollector } from '../../../lib/controllers/changelog.ts'
import { collectStream } from '../../../lib/controllers/streamrecords.ts'
import type { KubeObject } from '../../../lib/meta/types.ts'
import { startDynamoDB, type TestDynamoDB } from '../../support/dynamodb.ts'
import { blocking, newWorld, passesFilter, reference, type World } from './world.ts'

let db: TestDynamoDB
beforeAll(async () => {
  db = await startDynamoDB()
})
afterAll(() => db.stop())

/** Collects until nothing is left to do, beginning with what has happened so far. */
type Driver = (world: World) => () => Promise<void>

const drivers: Record<string, Driver> = {
  stream: (world) => async () => {
    for (let records = world.records(); records.length > 0; records = world.records()) {
      const { failed, error } = await collectStream(world.collector(), records.filter(passesFilter))
      expect([failed, error]).toEqual([[], undefined])
    }
  },
  'change log': (world) => {
    const collect = createChangelogCollector(() => performance.now())
    return async () => {
      expect(await collect(world.collector())).not.toHaveProperty('error')
    }
  },
  'passes over all objects': (world) => async () => {
    expect(await createChangelogCollector(() => performance.now())(world.collector())).not.toHaveProperty('error')
  },
}

describe.each(Object.entries(drivers))('by %s', (_, driver) => {
  let world: World
  let collect: () => Promise<void>

  beforeEach(async () => {
    world = await newWorld(db)
    collect = driver(world)
  })

  const owners = async (name: string) => (await world.find(name))?.metadata.ownerReferences?.map((one) => one.name)
  const exists = async (name: string) => (await world.find(name)) !== undefined

  describe('background', () => {
    test('a dependent goes with its only owner, one of two owners loses the reference', async () => {
      const o1 = await world.make('o1')
      const o2 = await world.make('o2')
      await world.make('d1', { ownerReferences: [reference(o1)] })
      await world.make('default/d2', { ownerReferences: [reference(o1), reference(o2, { controller: true })] })
      await collect()
      expect(await owners('default/d2')).toEqual(['o1', 'o2'])
      await world.delete('o1')
      await collect()
      expect(await exists('d1')).toBe(false)
      const { metadata } = (await world.find('default/d2')) as KubeObject
      expect(metadata.ownerReferences).toEqual([reference(o2, { controller: true })])
      expect(metadata.deletionTimestamp).toBeUndefined()
      expect(await exists('o2')).toBe(true)
    })

    test('the references to two lost owners of three go at once', async () => {
      const [o1, o2, o3] = [await world.make('o1'), await world.make('o2'), await world.make('o3')]
      await world.make('d', { ownerReferences: [o1, o2, o3].map((one) => reference(one)) })
      await world.delete('o1')
      await world.delete('o3')
      await collect()
      expect(await owners('d')).toEqual(['o2'])
    })

    test('generations follow one after another', async () => {
      let owner = await world.make('g0')
      for (const name of ['g1', 'p-a/g2']) owner = await world.make(name, { ownerReferences: [reference(owner)] })
      await world.make('p-a/g3', { ownerReferences: [reference(owner)] })
      await world.delete('g0')
      await collect()
      for (const name of ['g1', 'p-a/g2', 'p-a/g3']) expect([name, await exists(name)]).toEqual([name, false])
    })

    test('what belongs to each other in a circle goes together', async () => {
      const a = await world.make('a')
      const b = await world.make('b', { ownerReferences: [reference(a)] })
      const c = await world.make('c', { ownerReferences: [reference(b)] })
      await world.change('a', (object) => ({
        ...object,
        metadata: { ...object.metadata, ownerReferences: [reference(c)] },
      }))
      await collect()
      expect(await exists('a')).toBe(true)
      await world.delete('b')
      await collect()
      for (const name of ['a', 'b', 'c']) expect([name, await exists(name)]).toEqual([name, false])
    })
  })

  describe('owners that are not there', () => {
    const ghost = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', name: 'x', uid: 'no-such-uid' }

    test('never were: the dependent goes', async () => {
      await world.make('d4', { ownerReferences: [ghost] })
      await collect()
      expect(await exists('d4')).toBe(false)
    })

    test('have another uid: the dependent of the earlier one goes, that of the new one stays', async () => {
      const first = await world.make('o')
      await world.make('old', { ownerReferences: [reference(first)] })
      await world.delete('o')
      const second = await world.make('o')
      await world.make('new', { ownerReferences: [reference(second)] })
      await world.make('never', { ownerReferences: [{ ...reference(second), uid: ghost.uid }] })
      await collect()
      expect([await exists('old'), await exists('new'), await exists('never')]).toEqual([false, true, false])
    })

    test('are of a kind or version that is not known: the dependent stays', async () => {
      await world.make('kept', { ownerReferences: [{ ...ghost, apiVersion: 'foo/v1', kind: 'Unknown' }] })
      await world.make('version', { ownerReferences: [{ ...ghost, apiVersion: 'management.platform/v2' }] })
      await world.make('both', { ownerReferences: [ghost, { ...ghost, kind: 'Unknown', uid: 'other' }] })
      await collect()
      expect([await exists('kept'), await exists('version'), await exists('both')]).toEqual([true, true, true])
      expect(await owners('both')).toEqual(['x', 'x'])
    })

    test('would be in a namespace, while the dependent is in none: it stays', async () => {
      const owner = await world.make('p-a/o')
      await world.make('kept', { ownerReferences: [reference(owner), { ...ghost, uid: 'other' }] })
      await collect()
      await world.delete('p-a/o')
      await collect()
      expect(await owners('kept')).toEqual(['o', 'x'])
    })

    test('are in another namespace: the dependent goes', async () => {
      const owner = await world.make('p-a/o')
      await world.make('p-b/d', { ownerReferences: [reference(owner)] })
      await world.make('p-a/d', { ownerReferences: [reference(owner)] })
      await collect()
      expect([await exists('p-b/d'), await exists('p-a/d')]).toEqual([false, true])
    })

    test('have a uid longer than any: the dependent goes', async () => {
      await world.make('d', { ownerReferences: [{ ...ghost, uid: 'u'.repeat(3000) }] })
      await collect()
      expect(await exists('d')).toBe(false)
    })

    test('are named by an update', async () => {
      await world.make('d')
      await collect()
      await world.change('d', (object) => ({ ...object, metadata: { ...object.metadata, ownerReferences: [ghost] } }))
      await collect()
      expect(await exists('d')).toBe(false)
    })
  })

  describe('foreground', () => {
    const foreground = { propagationPolicy: 'Foreground' } as const

    test('without dependents the owner goes', async () => {
      await world.make('o')
      await world.delete('o', foreground)
      expect((await world.find('o'))?.metadata.finalizers).toEqual(['foregroundDeletion'])
      await collect()
      expect(await exists('o')).toBe(false)
    })

    test('the owner waits for a dependent that blocks it, not for the others', async () => {
      const o = await world.make('o')
      const hold = { finalizers: ['example.com/hold'] }
      await world.make('blocks', { ...hold, ownerReferences: [reference(o, blocking)] })
      await world.make('p-a/blocks', { ...hold, ownerReferences: [reference(o, blocking)] })
      await world.make('free', { ...hold, ownerReferences: [reference(o)] })
      await world.make('gone', { ownerReferences: [reference(o, blocking)] })
      await world.delete('o', foreground)
      await collect()
      expect(await exists('gone')).toBe(false)
      for (const name of ['o', 'blocks', 'p-a/blocks', 'free']) {
        expect((await world.find(name))?.metadata.deletionTimestamp).toBeDefined()
      }
      const release = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } })
      await world.change('blocks', release)
      await collect()
      expect([await exists('blocks'), await exists('o')]).toEqual([false, true])
      await world.change('p-a/blocks', release)
      await collect()
      expect([await exists('p-a/blocks'), await exists('o'), await exists('free')]).toEqual([false, false, true])
    })

    test.each([
      ['stops blocking', {}],
      ['names another owner, by the same uid,', { ...blocking, name: 'other' }],
    ])('a reference that %s lets the owner go', async (_, changed) => {
      const o = await world.make('o')
      await world.make('d', { finalizers: ['example.com/hold'], ownerReferences: [reference(o, blocking)] })
      await world.delete('o', foreground)
      await collect()
      expect(await exists('o')).toBe(true)
      await world.change('d', (object) => ({
        ...object,
        metadata: { ...object.metadata, ownerReferences: [reference(o, changed)] },
      }))
      await collect()
      expect(await exists('o')).toBe(false)
    })

    test('an owner that nobody deletes keeps the finalizer for later', async () => {
      const o = await world.make('o', { finalizers: ['foregroundDeletion'] })
      await world.make('d', { ownerReferences: [reference(o, blocking)] })
      await world.delete('d')
      await collect()
      expect((await world.find('o'))?.metadata.finalizers).toEqual(['foregroundDeletion'])
    })

    test('it is passed on to dependents that have some of their own, to others not', async () => {
      const o = await world.make('o')
      const hold = { finalizers: ['example.com/hold'] }
      const middle = await world.make('middle', { ownerReferences: [reference(o, blocking)] })
      await world.make('leaf', { ...hold, ownerReferences: [reference(middle, blocking)] })
      await world.delete('o', foreground)
      await collect()
      expect((await world.find('middle'))?.metadata.finalizers).toEqual(['foregroundDeletion'])
      expect((await world.find('leaf'))?.metadata.finalizers).toEqual(['example.com/hold'])
      expect((await world.find('leaf'))?.metadata.deletionTimestamp).toBeDefined()
      expect(await exists('o')).toBe(true)
      await world.change('leaf', (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }))
      await collect()
      expect([await exists('leaf'), await exists('middle'), await exists('o')]).toEqual([false, false, false])
    })

    test('a dependent that another owner keeps loses the reference and blocks no more', async () => {
      const [o, other] = [await world.make('o'), await world.make('other')]
      await world.make('d', { ownerReferences: [reference(o, blocking), reference(other)] })
      await world.delete('o', foreground)
      await collect()
      expect([await exists('o'), await owners('d')]).toEqual([false, ['other']])
    })

    test('a dependent that is to orphan its own does so', async () => {
      const o = await world.make('o')
      const d = await world.make('d', { finalizers: ['orphan'], ownerReferences: [reference(o)] })
      await world.make('leaf', { ownerReferences: [reference(d)] })
      await world.delete('o')
      await collect()
      expect([await exists('d'), await exists('leaf'), await owners('leaf')]).toEqual([false, true, undefined])
    })

    test('an object in another namespace that names the owner does not hold it', async () => {
      const o = await world.make('p-a/o')
      await world.make('p-b/d', { finalizers: ['example.com/hold'], ownerReferences: [reference(o, blocking)] })
      await world.delete('p-a/o', foreground)
      await collect()
      expect([await exists('p-a/o'), await exists('p-b/d')]).toEqual([false, true])
    })

    const circle = async (names: readonly string[]) => {
      const [first = '', ...rest] = names
      let owner = await world.make(first)
      for (const name of rest) owner = await world.make(name, { ownerReferences: [reference(owner, blocking)] })
      await world.change(first, (object) => ({
        ...object,
        metadata: { ...object.metadata, ownerReferences: [reference(owner, blocking)] },
      }))
    }

    test.each([[['a']], [['a', 'b']], [['a', 'b', 'c', 'd']]])(
      'a circle that blocks itself goes: %j',
      async (names) => {
        await circle(names)
        await collect()
        await world.delete('a', foreground)
        await collect()
        for (const name of names) expect([name, await exists(name)]).toEqual([name, false])
      },
    )

    test('a circle goes whose members are all deleted so by their users', async () => {
      const names = ['a', 'b', 'c']
      await circle(names)
      for (const name of names) await world.delete(name, foreground)
      await collect()
      for (const name of names) expect([name, await exists(name)]).toEqual([name, false])
    })

    test('what hangs on a circle but is not in it is waited for', async () => {
      await circle(['a', 'b'])
      const o = await world.make('o')
      await world.change('a', (object) => {
        const ownerReferences = [...(object.metadata.ownerReferences ?? []), reference(o, blocking)]
        return { ...object, metadata: { ...object.metadata, ownerReferences, finalizers: ['example.com/hold'] } }
      })
      for (const name of ['a', 'b', 'o']) await world.delete(name, foreground)
      await collect()
      expect((await world.find('a'))?.metadata.finalizers).toEqual(['example.com/hold'])
      expect((await world.find('o'))?.metadata.finalizers).toEqual(['foregroundDeletion'])
      expect(await exists('b')).toBe(false)
      await world.change('a', (object) => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }))
      await collect()
      expect([await exists('a'), await exists('o')]).toEqual([false, false])
    })
  })

  describe('orphan', () => {
    const orphan = { propagationPolicy: 'Orphan' } as const

    test('dependents stay without the reference, the owner goes', async () => {
      const [o, other] = [await world.make('o'), await world.make('other')]
      await world.make('d1', { ownerReferences: [reference(o, blocking)] })
      await world.make('p-a/d2', { ownerReferences: [reference(o), reference(other)] })
      await world.delete('o', orphan)
      expect((await world.find('o'))?.metadata.finalizers).toEqual(['orphan'])
      await collect()
      expect(await exists('o')).toBe(false)
      expect((await world.find('d1'))?.metadata).not.toHaveProperty('ownerReferences')
      expect(await owners('p-a/d2')).toEqual(['other'])
    })

    test('another finalizer holds the owner, which has no dependents any more', async () => {
      const o = await world.make('o', { finalizers: ['example.com/hold'] })
      await world.make('d', { ownerReferences: [reference(o)] })
      await world.delete('o', orphan)
      await collect()
      expect((await world.find('o'))?.metadata.finalizers).toEqual(['example.com/hold'])
      expect(await owners('d')).toBeUndefined()
    })
  })

  test('what is kept keeps its generation, and managers stay who they were', async () => {
    const [o, other] = [await world.make('o'), await world.make('other')]
    await world.make('d', {
      ownerReferences: [reference(o), reference(other)],
      managedFields: [
        {
          manager: 'kubectl',
          operation: 'Update',
          apiVersion: 'management.platform/v1',
          time: '2026-11-21T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:metadata': { 'f:ownerReferences': { '.': {}, [`k:{"uid":"${o.metadata.uid}"}`]: {} } } },
        },
      ],
    })
    await world.delete('o')
    await collect()
    const { metadata } = (await world.find('d')) as KubeObject
    expect(metadata.generation).toBe(1)
    expect(metadata.managedFields).toMatchObject([
      { manager: 'kubectl', fieldsV1: { 'f:metadata': { 'f:ownerReferences': {} } } },
    ])
    expect(JSON.stringify(metadata.managedFields)).not.toContain(o.metadata.uid)
  })

  test('nothing is written once everything is done', async () => {
    const o = await world.make('o')
    await world.make('d', { ownerReferences: [reference(o)] })
    await world.make('ghost', { ownerReferences: [{ ...reference(o), kind: 'Unknown' }] })
    await collect()
    const revisions = () =>
      Promise.all([world.keys, world.instances].map(({ kind }) => world.storage.revision(kind.table)))
    const before = await revisions()
    await collect()
    expect(await revisions()).toEqual(before)
  })
})
