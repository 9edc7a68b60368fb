/** Tests that watches are told of an expired key once, by a write that changes nothing but the resourceVersion. */
import { describe, expect, test } from 'vitest'
import { presentObject } from '../../../../lib/engine/registry/store.ts'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { admin } from '../../../support/users.ts'
import { newWorld, type World } from '../../engine/controllers/world.ts'
import { changeInternal, historyOf, publisherOf } from './publisher.ts'

const start = Date.parse('2026-11-21T12:00:00Z') / 1000

async function begin() {
  const clock = { at: start }
  const now = () => clock.at * 1000
  const world = await newWorld({ now: () => new Date(now()), tableNow: now })
  const publisher = publisherOf(world)
  await publisher.run()
  return { clock, world, publisher }
}

const versionOf = async ({ find }: World, name: string) => Number((await find(name))?.metadata.resourceVersion)

/** Returns the revisions of the changes after a revision, with the phase that a watch shows for each. */
async function changesSince({ storage, keys, now }: World, rv: number): Promise<string[]> {
  const { changes } = await storage.changes(keys.kind.table, rv)
  return changes.map(({ type, stored }) => {
    const { metadata, status } = presentObject(keys, stored, { user: admin, now: now() })
    return `${type} ${metadata.name} ${status?.phase}`
  })
}

test('a watch sees an expired key as Expired, within two minutes and once', async () => {
  const { clock, world, publisher } = await begin()
  const made = await world.make('ci', { labels: { app: 'shop' } }, { ttl: 300 })
  const rv = await versionOf(world, 'ci')
  for (clock.at = start + 290; clock.at < start + 360; clock.at += 10) await publisher.run()
  expect(await changesSince(world, rv)).toEqual([])
  clock.at = start + 420
  await publisher.run()
  expect(await changesSince(world, rv)).toEqual(['MODIFIED ci Expired'])
  for (let hours = 0; hours < 3; hours++) {
    clock.at += 3600
    await publisher.run()
  }
  expect(await changesSince(world, rv)).toEqual(['MODIFIED ci Expired'])
  // Nothing of the object changes, and nobody is told that somebody changed it.
  const { metadata, ...rest } = (await world.find('ci')) ?? { metadata: {} }
  const { metadata: before, ...restBefore } = made
  expect({ ...metadata, resourceVersion: '' }).toEqual({ ...before, resourceVersion: '' })
  expect(rest).toEqual(restBefore)
  expect((await historyOf(world, before.uid)).map(({ kind }) => kind)).toEqual(['expired', 'created'])
})

test('runs at the same time, and after one that died, tell once', async () => {
  const { clock, world, publisher } = await begin()
  await world.make('ci', {}, { ttl: 300 })
  const rv = await versionOf(world, 'ci')
  clock.at = start + 400
  const dies: Partial<Storage> = { writeCompanion: () => Promise.reject(new Error('died')) }
  await expect(publisher.run({ storage: { ...world.storage, ...dies } })).rejects.toThrow('died')
  await Promise.all(Array.from({ length: 4 }, () => publisher.run()))
  expect(await changesSince(world, rv)).toEqual(['MODIFIED ci Expired'])
})

test('a later expiry is told again', async () => {
  const { clock, world, publisher } = await begin()
  await world.make('ci', {}, { ttl: 300 })
  clock.at = start + 400
  await publisher.run()
  await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, ttl: 600 } }))
  const rv = await versionOf(world, 'ci')
  clock.at = start + 700
  await publisher.run()
  expect(await changesSince(world, rv)).toEqual(['MODIFIED ci Expired'])
})

test('more keys than a run has time for are told by the next ones', async () => {
  const { clock, world, publisher } = await begin()
  for (let count = 0; count < 250; count++) await world.make(`k${count}`, {}, { ttl: 300 })
  const rv = await versionOf(world, 'k249')
  clock.at = start + 400
  let calls = 0
  const run = await publisher.run({ hasTime: () => calls++ < 120 })
  expect(run).toMatchObject({ remaining: true })
  await publisher.run()
  expect((await changesSince(world, rv)).length).toBe(250)
  const last = await world.storage.revision(world.keys.kind.table)
  await publisher.run()
  expect(await world.storage.revision(world.keys.kind.table)).toBe(last)
})

describe('no write tells of', () => {
  test.each<[string, object, (world: World) => Promise<unknown>]>([
    ['a disabled key', { ttl: 300, disabled: true }, async () => {}],
    ['a key without an end', {}, async () => {}],
    [
      'the key of an exchange',
      { ttl: 300 },
      async (world) => {
        // The partition of the index is all that tells these keys apart.
        const { pk, sk, attributes } = await world.credential('ci')
        await world.storage.writeCompanion(
          { pk, sk, attributes: { ...attributes, expiryIndex: 'federated' } },
          unhurried,
        )
      },
    ],
    [
      'a key that lives longer than the index says',
      { ttl: 3000 },
      async (world) => {
        const { pk, sk, attributes } = await world.credential('ci')
        await world.storage.writeCompanion({ pk, sk, attributes: { ...attributes, expiry: start + 300 } }, unhurried)
      },
    ],
    [
      'another key of the same name',
      { ttl: 300 },
      async (world) => {
        const { pk, sk, attributes } = await world.credential('ci')
        await world.storage.writeCompanion({ pk, sk, attributes: { ...attributes, uid: 'another' } }, unhurried)
      },
    ],
  ])('%s', async (_, spec, prepare) => {
    const { clock, world, publisher } = await begin()
    await world.make('ci', {}, spec as never)
    await prepare(world)
    const rv = await versionOf(world, 'ci')
    clock.at = start + 400
    await publisher.run()
    expect(await changesSince(world, rv)).toEqual([])
  })
})

test('what another release stored with the key stays', async () => {
  const { clock, world, publisher } = await begin()
  await world.make('ci', {}, { ttl: 300 })
  await changeInternal(world, 'ci', (internal) => ({ ...internal, unknown: { later: 1 } }))
  clock.at = start + 400
  await publisher.run()
  const stored = await world.storage.get(world.keys.kind.table, 'ci')
  expect(stored?.internal).toMatchObject({ later: 1, touchedExpiry: start + 300 })
})
