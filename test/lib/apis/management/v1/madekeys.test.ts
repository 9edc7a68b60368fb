/** Tests that the index of the keys that a key made lacks none, at any revision, however far the publisher of events has come. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keysMadeWith } from '../../../../../lib/apis/management/v1/history/madekeys.ts'
import { positionKey } from '../../../../../lib/authentication/history/keptsince.ts'
import { decodeKeyInternal } from '../../../../../lib/authentication/keyinternal.ts'
import type { Listed, ListRequest } from '../../../../../lib/storage/interface.ts'
import { getCompanion } from '../../../../../lib/storage/readcompanions.ts'
import { unhurried } from '../../../../support/deadlines.ts'
import { makeWith, publisherOf } from '../../../controllers/events/publisher.ts'
import { newWorld, type World } from '../../../controllers/world.ts'

const maker = 'm'
const namesOf = (items: readonly Listed[]) =>
  items.filter((one) => decodeKeyInternal(one.readInternal()).maker === maker).map(({ key }) => key)

/** Returns what a list with the index has and what one of all keys has, or undefined if the index says nothing. */
async function compare({ storage, keys: { kind } }: World, start: Pick<ListRequest, 'at' | 'notOlderThan'>) {
  const found = await keysMadeWith(storage, { table: kind.table, maker }, start)
  if (!found) return undefined
  const [some, all] = [await storage.list(kind.table, found), await storage.list(kind.table, { at: found.at })]
  expect(namesOf(some.items)).toEqual(namesOf(all.items))
  return { found, read: some.items.length, all: all.items.length }
}

/** Publishes as a release that keeps no families. */
async function publishBefore({ storage, keys }: World): Promise<void> {
  const item = await getCompanion(storage, positionKey)
  const attributes = { rv: await storage.revision(keys.kind.table), until: item?.attributes.until ?? 0 }
  await storage.writeCompanion({ ...positionKey, attributes, when: { is: item } }, unhurried)
}

test('a list with it is that of all keys, and reads fewer', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ make: name, by: fc.constantFrom(maker, maker, 'other') }) },
    { weight: 2, arbitrary: fc.record({ remove: name }) },
    { weight: 3, arbitrary: fc.constant('publish' as const) },
    { weight: 1, arbitrary: fc.constant('release before' as const) },
  )
  let [known, read, all] = [0, 0, 0]
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const world = await newWorld()
      const publisher = publisherOf(world)
      await publisher.run()
      const revisions: number[] = []
      for (const one of steps) {
        if (one === 'publish') await publisher.run()
        else if (one === 'release before') await publishBefore(world)
        else if ('remove' in one) await world.delete(one.remove).catch(() => {})
        else if (!(await world.find(one.make))) await makeWith(world, one.by, one.make)
        revisions.push(await world.storage.revision(world.keys.kind.table))
        for (const at of [undefined, ...revisions]) {
          const found = await compare(world, at === undefined ? {} : { at })
          if (!found) continue
          known++
          read += found.read
          all += found.all
        }
      }
    }),
    { numRuns: 30, seed: 20261126 },
  )
  expect([known > 500, read < all]).toEqual([true, true])
})

test('it says nothing of a revision that it cannot know, or of what is no name', async () => {
  const world = await newWorld()
  const { storage, keys } = world
  const ask = (start = {}, name = maker) => keysMadeWith(storage, { table: keys.kind.table, maker: name }, start)
  expect(await ask()).toBeUndefined()
  await publisherOf(world).run()
  const at = await storage.revision(keys.kind.table)
  expect(await ask()).toEqual({ at, keys: [] })
  expect(await ask({ notOlderThan: at + 1 })).toBeUndefined()
  for (const strange of ['', 'A', 'a#b', 'a/b', '\u0000', 'a'.repeat(5000)])
    expect(await ask({}, strange)).toBeUndefined()
  // A position above every revision is that of another table.
  const item = await getCompanion(storage, positionKey)
  const attributes = { ...item?.attributes, rv: at + 9 }
  await storage.writeCompanion({ ...positionKey, attributes, when: { is: item } }, unhurried)
  expect(await ask()).toBeUndefined()
})
