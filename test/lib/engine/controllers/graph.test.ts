/** Tests which dependents block which owners, without concurrent changes. */
import { expect, test } from 'vitest'
import { isBlocked, type Node, nodeAt } from '../../../../lib/engine/controllers/graph.ts'
import { OutOfTime } from '../../../../lib/engine/registry/parallel.ts'
import cases from './vectors/graph.cases.json' with { type: 'json' }
import { blocking, interceptCalls, newWorld, reference, type World } from './world.ts'

const foreground = { propagationPolicy: 'Foreground' } as const

/** Creates objects, each with the names of the owners that it blocks. All are being deleted in the foreground. */
async function createWaiting(world: World, blocks: Record<string, string[]>): Promise<void> {
  const made = new Map<string, Awaited<ReturnType<World['make']>>>()
  for (const name of Object.keys(blocks)) made.set(name, await world.make(name))
  for (const [name, owners] of Object.entries(blocks)) {
    const ownerReferences = owners.flatMap((one) => made.get(one) ?? []).map((one) => reference(one, blocking))
    await world.changeMeta(name, { ownerReferences })
    await world.delete(name, foreground)
  }
}

const node = async ({ keys: store }: World, key: string) => (await nodeAt({ store, key })) as Node

test.each(cases.blocked as [string, Record<string, string[]>, Record<string, boolean>][])(
  'blocked by %s',
  async (_, blocks, expected) => {
    const world = await newWorld()
    await createWaiting(world, blocks)
    const collector = world.collector()
    const found = Object.keys(blocks).map(async (name) => [name, await isBlocked(collector, await node(world, name))])
    expect(Object.fromEntries(await Promise.all(found))).toEqual(expected)
  },
)

test('a member of the cycle that does not wait blocks the others', async () => {
  const world = await newWorld()
  const a = await world.make('a')
  const b = await world.make('b', { ownerReferences: [reference(a, blocking)] })
  await world.changeMeta('a', { ownerReferences: [reference(b, blocking)] })
  await world.delete('a', foreground)
  expect(await isBlocked(world.collector(), await node(world, 'a'))).toBe(true)
})

// A user with such objects must not stop the collector for other users.
// threat: users-26
test('a cycle with many paths costs no more reads than its members', async () => {
  const world = await newWorld()
  const width = 8
  const layer = (name: string) => Array.from({ length: width }, (_, index) => `${name}${index}`)
  const all = (names: string[], owners: string[]) => Object.fromEntries(names.map((name) => [name, owners]))
  await createWaiting(world, {
    o: ['d0'],
    ...all(layer('b'), ['o']),
    ...all(layer('c'), layer('b')),
    ...all(layer('d'), layer('c')),
  })
  const owner = await node(world, 'o')
  let reads = 0
  const counted = interceptCalls(world.storage, async (_, call) => {
    reads++
    return call()
  })
  expect(await isBlocked(world.collector(counted), owner)).toBe(false)
  expect(reads).toBeLessThan(5 * width)
})

// threat: users-26
test('running out of time is not taken for having no dependents', async () => {
  const world = await newWorld()
  await createWaiting(world, { o: [], a: ['o'] })
  const owner = await node(world, 'o')
  const late = { ...world.collector(), hasTime: () => false }
  await expect(isBlocked(late, owner)).rejects.toThrow(OutOfTime)
})
