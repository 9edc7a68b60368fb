/** Tests work that is interrupted, repeated, done concurrently, or too much for one invocation. */
import type { DynamoDBRecord } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { createChangelogCollector } from '../../../../lib/engine/controllers/changelog.ts'
import type { Collector } from '../../../../lib/engine/controllers/garbagecollector.ts'
import type { DeleteOptions } from '../../../../lib/engine/registry/delete.ts'
import { OutOfTime } from '../../../../lib/engine/registry/parallel.ts'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import type { LifeLimits } from '../../../../lib/keys/credential/keystatus.ts'
import { blocking, collectStream, interceptCalls, newWorld, passesFilter, reference, type World } from './world.ts'

class Dead extends Error {}

/** A storage whose process dies at the nth call, before the request is sent or before its answer arrives. */
function stopAt(storage: Storage, n: number, when: 'before' | 'after') {
  let calls = 0
  const dying = interceptCalls(storage, async (_, call) => {
    calls++
    if (calls > n || (calls === n && when === 'before')) throw new Dead()
    const answer = await call()
    if (calls >= n) throw new Dead()
    return answer
  })
  return { dying, died: () => calls >= n }
}

/** Delivers pending records like Lambda: after a failure, again from the first record that failed. */
async function deliver(world: World, again: readonly DynamoDBRecord[] = []): Promise<void> {
  let records = [...again, ...world.records()].filter(passesFilter)
  while (records.length > 0) {
    records = [...unprocessedRecords(records, await collectStream(world.collector(), records)), ...world.records()]
    records = records.filter(passesFilter)
  }
}

function unprocessedRecords(
  records: readonly DynamoDBRecord[],
  { failed }: { failed: readonly string[] },
): DynamoDBRecord[] {
  const first = records.findIndex(({ dynamodb }) => failed.includes(dynamodb?.SequenceNumber ?? ''))
  return first === -1 ? [] : records.slice(first)
}

interface Scenario {
  begin(world: World): Promise<void>
  left: Record<string, string[] | undefined>
}

const scenarios: Record<string, Scenario> = {
  background: {
    async begin(world) {
      const [o, other] = [await world.make('o'), await world.make('other')]
      await world.make('one', { ownerReferences: [reference(o)] })
      await world.make('p-a/two', { ownerReferences: [reference(o), reference(other)] })
      await world.delete('o')
    },
    left: { o: undefined, one: undefined, other: [], 'p-a/two': ['other'] },
  },
  foreground: {
    async begin(world) {
      const o = await world.make('o')
      const middle = await world.make('middle', { ownerReferences: [reference(o, blocking)] })
      await world.make('leaf', { ownerReferences: [reference(middle, blocking)] })
      await world.delete('o', { propagationPolicy: 'Foreground' })
    },
    left: { o: undefined, middle: undefined, leaf: undefined },
  },
  orphan: {
    async begin(world) {
      const [o, other] = [await world.make('o'), await world.make('other')]
      await world.make('one', { ownerReferences: [reference(o)] })
      await world.make('p-a/two', { ownerReferences: [reference(o), reference(other)] })
      await world.delete('o', { propagationPolicy: 'Orphan' })
    },
    left: { o: undefined, one: [], other: [], 'p-a/two': ['other'] },
  },
}

async function readRemaining(world: World, { left }: Scenario): Promise<Scenario['left']> {
  const found = Object.keys(left).map(async (name) => {
    const object = await world.find(name)
    return [name, object && (object.metadata.ownerReferences ?? []).map((one) => one.name)] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

describe.each(Object.entries(scenarios))('a process that dies: %s', (_, scenario) => {
  test.each(['before', 'after'] as const)('%s any call: redelivered records finish the work', async (when) => {
    const attempt = async (n: number): Promise<boolean> => {
      const world = await newWorld()
      await scenario.begin(world)
      const records = world.records().filter(passesFilter)
      const { dying, died } = stopAt(world.storage, n, when)
      const outcome = await collectStream(world.collector(dying), records)
      if (died()) expect(outcome.failed).not.toEqual([])
      await deliver(world, unprocessedRecords(records, outcome))
      expect(await readRemaining(world, scenario)).toEqual(scenario.left)
      return died()
    }
    const width = 6
    let tried = 0
    for (let more = true; more; tried += width) {
      const results = await Promise.all(Array.from({ length: width }, (_, index) => attempt(tried + index + 1)))
      more = results.every(Boolean)
    }
    expect(tried).toBeGreaterThan(width)
  })

  test('a new process finishes with a full pass', async () => {
    const world = await newWorld()
    await scenario.begin(world)
    for (const n of [3, 9, 14]) {
      const { dying } = stopAt(world.storage, n, 'after')
      await createChangelogCollector(() => 0)(world.collector(dying)).catch(() => undefined)
    }
    await createChangelogCollector(() => 0)(world.collector())
    expect(await readRemaining(world, scenario)).toEqual(scenario.left)
  })

  test('two processes finish together', async () => {
    const world = await newWorld()
    await scenario.begin(world)
    const records = world.records().filter(passesFilter)
    const outcomes = await Promise.all([
      collectStream(world.collector(), records),
      collectStream(world.collector(), records),
      createChangelogCollector(() => 0)(world.collector()),
    ])
    for (const outcome of outcomes) expect(outcome.error).toBeUndefined()
    await deliver(world)
    expect(await readRemaining(world, scenario)).toEqual(scenario.left)
  })

  test('records that are delivered again change nothing', async () => {
    const world = await newWorld()
    await scenario.begin(world)
    const records = world.records().filter(passesFilter)
    await deliver(world, records)
    const before = await world.storage.revision(world.keys.kind.table)
    await deliver(world, records)
    expect(await world.storage.revision(world.keys.kind.table)).toBe(before)
  })
})

describe('200 dependents', () => {
  const family = async (world: World, blocks: boolean) => {
    const o = await world.make('o')
    const names = Array.from({ length: 200 }, (_, index) => `p-a/d${index}`)
    for (let index = 0; index < names.length; index += 20) {
      const chunk = names.slice(index, index + 20)
      const ownerReferences = [reference(o, blocks ? blocking : {})]
      await Promise.all(chunk.map((name) => world.make(name, { ownerReferences })))
    }
    world.records()
  }
  const count = async ({ storage, instances }: World) => (await storage.list(instances.kind.table, {})).items.length

  test('are deleted over several invocations, each of which makes progress', async () => {
    const world = await newWorld()
    await family(world, true)
    await world.delete('o', { propagationPolicy: 'Foreground' })
    const marked = world.records().filter(passesFilter)
    const counts = [await count(world)]
    let outcome = { failed: ['first'] }
    while (outcome.failed.length > 0) {
      let steps = 0
      const collector: Collector = { ...world.collector(), hasTime: () => steps++ < 90 }
      const { error, ...rest } = await collectStream(collector, marked)
      if (rest.failed.length > 0) expect(error).toBeInstanceOf(OutOfTime)
      outcome = rest
      counts.push(await count(world))
    }
    expect([counts.length, counts]).toEqual([4, [...new Set(counts)].sort((one, other) => other - one)])
    expect([counts.at(-1), await world.find('o')]).toEqual([0, undefined])
  })

  test('are released in parallel, and their owner after the last one', async () => {
    const world = await newWorld()
    await family(world, false)
    await world.delete('o', { propagationPolicy: 'Orphan' })
    const collector = world.collector()
    await collectStream(collector, world.records().filter(passesFilter))
    expect(collector.written.filter((what) => what === 'unlinked')).toHaveLength(200)
    expect(collector.written.at(-1)).toBe('released')
    const { items } = await world.storage.list(world.instances.kind.table, {})
    expect(items.filter((one) => one.read().object.metadata.ownerReferences === undefined)).toHaveLength(200)
  })
})

/** A storage that runs this once, after the write was decided and before it is sent. */
function beforeUpdates({ storage }: World, happen: () => Promise<unknown>): Storage {
  let happened: Promise<unknown> | undefined
  return interceptCalls(storage, async (name, call) => {
    if (name === 'update') {
      happened ??= happen()
      await happened
    }
    return call()
  })
}

test('a concurrent change of the object is respected', async () => {
  const world = await newWorld()
  const [o, other] = [await world.make('o'), await world.make('other')]
  await world.make('d', { ownerReferences: [reference(o)] })
  await world.delete('o')
  const records = world.records().filter(passesFilter)
  const slow = beforeUpdates(world, () => world.changeMeta('d', { ownerReferences: [reference(o), reference(other)] }))
  expect(await collectStream(world.collector(slow), records)).toMatchObject({ failed: [] })
  expect((await world.find('d'))?.metadata.ownerReferences).toEqual([reference(other)])
})

test('an object that changes before the write is judged again', async () => {
  const world = await newWorld()
  const [o, other] = [await world.make('o'), await world.make('other')]
  await world.make('d', { ownerReferences: [reference(o), reference(other)] })
  await world.delete('o')
  const records = world.records().filter(passesFilter)
  const slow = beforeUpdates(world, () =>
    world.changeMeta('d', { ownerReferences: [reference(o), { ...reference(other), uid: 'no-such-uid' }] }),
  )
  expect(await collectStream(world.collector(slow), records)).toMatchObject({ failed: [] })
  expect(await world.find('d')).toBeUndefined()
})

describe('a dependent that changes constantly', () => {
  const hold = { finalizers: ['example.com/hold'] }
  /** A storage that changes its annotations before each write of the collector. */
  async function restless(policy: DeleteOptions['propagationPolicy'], metadata: object = {}) {
    const world = await newWorld()
    const o = await world.make('o')
    await world.make('d', { ...metadata, ownerReferences: [reference(o)] })
    await world.delete('o', policy && { propagationPolicy: policy })
    const records = world.records().filter(passesFilter)
    let changes = 0
    const storage = interceptCalls(world.storage, async (name, call) => {
      if (name === 'update' && (await world.find('d'))) {
        const annotations = { changes: `${changes++}` }
        await world.changeMeta('d', { annotations })
      }
      return call()
    })
    expect(await collectStream(world.collector(storage), records)).toMatchObject({ failed: [] })
    return world
  }

  test('is deleted with its owner', async () => {
    const world = await restless(undefined)
    expect(await world.find('d')).toBeUndefined()
  })

  test('is marked if it has a finalizer', async () => {
    const world = await restless(undefined, hold)
    expect((await world.find('d'))?.metadata.deletionTimestamp).toBeDefined()
  })

  // threat: users-25
  test('is released by an owner that orphans it, which is deleted', async () => {
    const world = await restless('Orphan')
    expect([(await world.find('d'))?.metadata.ownerReferences, await world.find('o')]).toEqual([undefined, undefined])
  })
})

// threat: users-25
test('a dependent that cannot be deleted does not keep an owner that it does not block', async () => {
  const world = await newWorld()
  const o = await world.make('o')
  await world.make('d', { ownerReferences: [reference(o)] })
  world.records()
  await world.delete('o', { propagationPolicy: 'Foreground' })
  const records = world.records().filter(passesFilter)
  const { storage } = world
  const refusing: Storage = {
    ...storage,
    update: (table, key, ...rest) =>
      key === 'd' ? Promise.reject(new Error('not now')) : storage.update(table, key, ...rest),
  }
  expect((await collectStream(world.collector(refusing), records)).failed).toHaveLength(1)
  expect([await world.find('o'), (await world.find('d')) !== undefined]).toEqual([undefined, true])
})

test('a new object with the same name is not changed', async () => {
  const world = await newWorld()
  const o = await world.make('o')
  await world.make('d', { ownerReferences: [reference(o)] })
  await world.delete('o')
  const records = world.records().filter(passesFilter)
  const slow = beforeUpdates(world, async () => {
    await world.delete('d')
    await world.make('d')
  })
  expect(await collectStream(world.collector(slow), records)).toMatchObject({ failed: [] })
  expect(await world.find('d')).toBeDefined()
})

test('keys over a lowered maximum ttl are still released', async () => {
  const limits: LifeLimits = {}
  const world = await newWorld({ limits })
  const o = await world.make('o', {}, { ttl: 1000 })
  await world.make('d', { ownerReferences: [reference(o)] }, { ttl: 1000 })
  await world.delete('o', { propagationPolicy: 'Orphan' })
  limits.maxTtl = 10
  expect(await collectStream(world.collector(), world.records().filter(passesFilter))).toMatchObject({ failed: [] })
  expect([await world.find('o'), (await world.find('d'))?.metadata.ownerReferences]).toEqual([undefined, undefined])
  const longer = world.change('d', (object) => ({ ...object, spec: { ttl: 2000 } }))
  await expect(longer).rejects.toThrow('must not be more than the maximum of 10 seconds')
})
