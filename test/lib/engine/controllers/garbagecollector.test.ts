/** Tests dependents and owners, with the stream and with the change log. */
import { beforeEach, describe, expect, test } from 'vitest'
import { createChangelogCollector } from '../../../../lib/engine/controllers/changelog.ts'
import type { KubeObject, OwnerReference } from '../../../../lib/engine/meta/types.ts'
import { blocking, collectStream, newWorld, passesFilter, reference, type World } from './world.ts'

/** Collects all changes so far, until nothing is left to do. */
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
    world = await newWorld()
    collect = driver(world)
  })

  const owners = async (name: string) => (await world.find(name))?.metadata.ownerReferences?.map((one) => one.name)
  const exists = async (name: string) => (await world.find(name)) !== undefined
  const finalizers = async (name: string) => (await world.find(name))?.metadata.finalizers
  const expectGone = async (...names: string[]) => {
    for (const name of names) expect([name, await exists(name)]).toEqual([name, false])
  }

  describe('background', () => {
    test('deletes a dependent with its only owner, and removes the reference to one of two owners', async () => {
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
      expect([metadata.deletionTimestamp, await exists('o2')]).toEqual([undefined, true])
    })

    test('removes the references to two lost owners of three in one write', async () => {
      const [o1, o2, o3] = [await world.make('o1'), await world.make('o2'), await world.make('o3')]
      await world.make('d', { ownerReferences: [o1, o2, o3].map((one) => reference(one)) })
      await world.delete('o1')
      await world.delete('o3')
      await collect()
      expect(await owners('d')).toEqual(['o2'])
    })

    test('deletes one generation after another', async () => {
      let owner = await world.make('g0')
      for (const name of ['g1', 'p-a/g2']) owner = await world.make(name, { ownerReferences: [reference(owner)] })
      await world.make('p-a/g3', { ownerReferences: [reference(owner)] })
      await world.delete('g0')
      await collect()
      await expectGone('g1', 'p-a/g2', 'p-a/g3')
    })

    test('deletes a cycle of owners together', async () => {
      const a = await world.make('a')
      const b = await world.make('b', { ownerReferences: [reference(a)] })
      const c = await world.make('c', { ownerReferences: [reference(b)] })
      await world.changeMeta('a', { ownerReferences: [reference(c)] })
      await collect()
      expect(await exists('a')).toBe(true)
      await world.delete('b')
      await collect()
      await expectGone('a', 'b', 'c')
    })
  })

  describe('missing owners', () => {
    const ghost = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', name: 'x', uid: 'no-such-uid' }

    test('delete a dependent whose owner never existed', async () => {
      await world.make('d4', { ownerReferences: [ghost] })
      await collect()
      expect(await exists('d4')).toBe(false)
    })

    test('delete the dependent of the earlier uid and keep that of the new one', async () => {
      const first = await world.make('o')
      await world.make('old', { ownerReferences: [reference(first)] })
      await world.delete('o')
      const second = await world.make('o')
      await world.make('new', { ownerReferences: [reference(second)] })
      await world.make('never', { ownerReferences: [{ ...reference(second), uid: ghost.uid }] })
      await collect()
      expect([await exists('old'), await exists('new'), await exists('never')]).toEqual([false, true, false])
    })

    test('keep a dependent of an owner of unknown kind or version', async () => {
      await world.make('kept', { ownerReferences: [{ ...ghost, apiVersion: 'foo/v1', kind: 'Unknown' }] })
      await world.make('version', { ownerReferences: [{ ...ghost, apiVersion: 'management.platform/v2' }] })
      await world.make('both', { ownerReferences: [ghost, { ...ghost, kind: 'Unknown', uid: 'other' }] })
      await collect()
      expect([await exists('kept'), await exists('version'), await exists('both')]).toEqual([true, true, true])
      expect(await owners('both')).toEqual(['x', 'x'])
    })

    // Right uid, other coordinates: what kube-apiserver's collector does before and after the owner is deleted.
    test.each<[string, string, Partial<OwnerReference>, before: boolean, after: boolean]>([
      ['o', 'd', { kind: 'ownedaccesskey' }, true, false],
      ['p-a/o', 'p-a/d', { kind: 'virtualclusterinstance' }, true, false],
      ['p-a/o', 'd', { kind: 'virtualclusterinstance' }, true, true],
      ['o', 'p-a/d', { kind: 'ownedaccesskey' }, true, false],
      ['p-a/o', 'p-b/d', { kind: 'virtualclusterinstance' }, false, false],
      ['o', 'd', { name: 'other' }, false, false],
      ['o', 'd', { kind: 'ownedAccessKey' }, true, true],
      ['o', 'd', { kind: 'OWNEDACCESSKEY' }, true, true],
      ['o', 'd', { kind: 'ownedaccesskeys' }, true, true],
      ['o', 'd', { kind: 'oak' }, true, true],
      ['o', 'd', { kind: 'VirtualClusterInstance' }, true, true],
      ['o', 'p-a/d', { kind: 'VirtualClusterInstance' }, false, false],
      ['o', 'd', { kind: 'OwnedAccessKeyList' }, false, false],
      ['o', 'd', { kind: 'ownedaccesskeylist' }, true, true],
      ['o', 'd', { kind: 'List' }, false, false],
      ['o', 'd', { kind: 'VirtualClusterInstanceList' }, true, true],
      ['o', 'p-a/d', { kind: 'VirtualClusterInstanceList' }, false, false],
      ['o', 'd', { apiVersion: 'v1', kind: 'Namespace' }, false, false],
      ['o', 'd', { apiVersion: 'v1', kind: 'namespace' }, false, false],
      ['o', 'd', { apiVersion: 'v1', kind: 'List' }, false, false],
      ['o', 'd', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }, false, false],
      ['o', 'd', { apiVersion: 'v1' }, true, true],
      ['o', 'd', { apiVersion: 'management.platform/v2', kind: 'ownedaccesskey' }, true, true],
      ['o', 'd', { apiVersion: 'other.example.com/v1' }, true, true],
    ])(
      '%s owns %s by %j: kept before its deletion %s, and after it %s',
      async (owner, dependent, more, before, after) => {
        const made = await world.make(owner)
        await world.make(dependent, { ownerReferences: [reference(made, more)] })
        await collect()
        expect(await exists(dependent)).toBe(before)
        await world.delete(owner)
        await collect()
        expect(await exists(dependent)).toBe(after)
      },
    )

    test('keep a dependent of an existing namespace', async () => {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'p-a', uid: 'uid-of-namespace-p-a' }
      await world.make('p-a/d', { ownerReferences: [namespace] })
      await collect()
      expect(await exists('p-a/d')).toBe(true)
    })

    test('wait for a dependent that blocks them by a kind in lower case', async () => {
      const owner = await world.make('o')
      const ownerReferences = [reference(owner, { kind: 'ownedaccesskey', ...blocking })]
      await world.make('d', { finalizers: ['example.com/hold'], ownerReferences })
      await world.delete('o', { propagationPolicy: 'Foreground' })
      await collect()
      expect([await exists('o'), await exists('d')]).toEqual([true, true])
      await world.changeMeta('d', { finalizers: [] })
      await collect()
      expect([await exists('o'), await exists('d')]).toEqual([false, false])
    })

    test('keep a cluster-scoped dependent of a namespaced owner', async () => {
      const owner = await world.make('p-a/o')
      await world.make('kept', { ownerReferences: [reference(owner), { ...ghost, uid: 'other' }] })
      await collect()
      await world.delete('p-a/o')
      await collect()
      expect(await owners('kept')).toEqual(['o', 'x'])
    })

    test('delete a dependent of an owner in another namespace', async () => {
      const owner = await world.make('p-a/o')
      await world.make('p-b/d', { ownerReferences: [reference(owner)] })
      await world.make('p-a/d', { ownerReferences: [reference(owner)] })
      await collect()
      expect([await exists('p-b/d'), await exists('p-a/d')]).toEqual([false, true])
    })

    test('delete a dependent of an owner with an impossibly long uid', async () => {
      await world.make('d', { ownerReferences: [{ ...ghost, uid: 'u'.repeat(3000) }] })
      await collect()
      expect(await exists('d')).toBe(false)
    })

    test('delete a dependent whose update names one', async () => {
      await world.make('d')
      await collect()
      await world.changeMeta('d', { ownerReferences: [ghost] })
      await collect()
      expect(await exists('d')).toBe(false)
    })
  })

  describe('foreground', () => {
    const foreground = { propagationPolicy: 'Foreground' } as const

    test('deletes an owner without dependents', async () => {
      await world.make('o')
      await world.delete('o', foreground)
      expect(await finalizers('o')).toEqual(['foregroundDeletion'])
      await collect()
      expect(await exists('o')).toBe(false)
    })

    test('makes the owner wait only for dependents that block it', async () => {
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
      await world.changeMeta('blocks', { finalizers: [] })
      await collect()
      expect([await exists('blocks'), await exists('o')]).toEqual([false, true])
      await world.changeMeta('p-a/blocks', { finalizers: [] })
      await collect()
      expect([await exists('p-a/blocks'), await exists('o'), await exists('free')]).toEqual([false, false, true])
    })

    test.each([
      ['stops blocking', {}],
      ['names another owner, by the same uid,', { ...blocking, name: 'other' }],
    ])('releases the owner when a reference %s', async (_, changed) => {
      const o = await world.make('o')
      await world.make('d', { finalizers: ['example.com/hold'], ownerReferences: [reference(o, blocking)] })
      await world.delete('o', foreground)
      await collect()
      expect(await exists('o')).toBe(true)
      await world.changeMeta('d', { ownerReferences: [reference(o, changed)] })
      await collect()
      expect(await exists('o')).toBe(false)
    })

    test('keeps the finalizer of an owner that is not being deleted', async () => {
      const o = await world.make('o', { finalizers: ['foregroundDeletion'] })
      await world.make('d', { ownerReferences: [reference(o, blocking)] })
      await world.delete('d')
      await collect()
      expect(await finalizers('o')).toEqual(['foregroundDeletion'])
    })

    test('propagates only to dependents that have dependents', async () => {
      const o = await world.make('o')
      const hold = { finalizers: ['example.com/hold'] }
      const middle = await world.make('middle', { ownerReferences: [reference(o, blocking)] })
      await world.make('leaf', { ...hold, ownerReferences: [reference(middle, blocking)] })
      await world.delete('o', foreground)
      await collect()
      expect(await finalizers('middle')).toEqual(['foregroundDeletion'])
      expect(await finalizers('leaf')).toEqual(['example.com/hold'])
      expect((await world.find('leaf'))?.metadata.deletionTimestamp).toBeDefined()
      expect(await exists('o')).toBe(true)
      await world.changeMeta('leaf', { finalizers: [] })
      await collect()
      expect([await exists('leaf'), await exists('middle'), await exists('o')]).toEqual([false, false, false])
    })

    test('unlinks a dependent that another owner keeps, so it no longer blocks', async () => {
      const [o, other] = [await world.make('o'), await world.make('other')]
      await world.make('d', { ownerReferences: [reference(o, blocking), reference(other)] })
      await world.delete('o', foreground)
      await collect()
      expect([await exists('o'), await owners('d')]).toEqual([false, ['other']])
    })

    test('lets a dependent orphan its own dependents', async () => {
      const o = await world.make('o')
      const d = await world.make('d', { finalizers: ['orphan'], ownerReferences: [reference(o)] })
      await world.make('leaf', { ownerReferences: [reference(d)] })
      await world.delete('o')
      await collect()
      expect([await exists('d'), await exists('leaf'), await owners('leaf')]).toEqual([false, true, undefined])
    })

    test('ignores an object in another namespace that names the owner', async () => {
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
      await world.changeMeta(first, { ownerReferences: [reference(owner, blocking)] })
    }

    test.each([[['a']], [['a', 'b']], [['a', 'b', 'c', 'd']]])(
      'deletes a cycle that blocks itself: %j',
      async (names) => {
        await circle(names)
        await collect()
        await world.delete('a', foreground)
        await collect()
        await expectGone(...names)
      },
    )

    test('deletes a cycle whose members were all deleted in the foreground', async () => {
      const names = ['a', 'b', 'c']
      await circle(names)
      for (const name of names) await world.delete(name, foreground)
      await collect()
      await expectGone(...names)
    })

    test('waits for a dependent of a cycle that is not in it', async () => {
      await circle(['a', 'b'])
      const o = await world.make('o')
      const ownerReferences = [...((await world.find('a'))?.metadata.ownerReferences ?? []), reference(o, blocking)]
      await world.changeMeta('a', { ownerReferences, finalizers: ['example.com/hold'] })
      for (const name of ['a', 'b', 'o']) await world.delete(name, foreground)
      await collect()
      expect(await finalizers('a')).toEqual(['example.com/hold'])
      expect([await finalizers('o'), await exists('b')]).toEqual([['foregroundDeletion'], false])
      await world.changeMeta('a', { finalizers: [] })
      await collect()
      expect([await exists('a'), await exists('o')]).toEqual([false, false])
    })
  })

  describe('orphan', () => {
    const orphan = { propagationPolicy: 'Orphan' } as const

    test('keeps dependents without the reference, and deletes the owner', async () => {
      const [o, other] = [await world.make('o'), await world.make('other')]
      await world.make('d1', { ownerReferences: [reference(o, blocking)] })
      await world.make('p-a/d2', { ownerReferences: [reference(o), reference(other)] })
      await world.delete('o', orphan)
      expect(await finalizers('o')).toEqual(['orphan'])
      await collect()
      expect(await exists('o')).toBe(false)
      expect((await world.find('d1'))?.metadata).not.toHaveProperty('ownerReferences')
      expect(await owners('p-a/d2')).toEqual(['other'])
    })

    test('keeps an owner with another finalizer, without dependents', async () => {
      const o = await world.make('o', { finalizers: ['example.com/hold'] })
      await world.make('d', { ownerReferences: [reference(o)] })
      await world.delete('o', orphan)
      await collect()
      expect(await finalizers('o')).toEqual(['example.com/hold'])
      expect(await owners('d')).toBeUndefined()
    })
  })

  test('kept objects keep their generation and their managers', async () => {
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

  test('writes nothing once everything is done', async () => {
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
