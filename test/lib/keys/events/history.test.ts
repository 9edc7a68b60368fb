/** Tests what is kept about keys beside what is published, for how long, and since when it has no gap. */
import { describe, expect, test } from 'vitest'
import type { CompanionWrite } from '../../../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { historyPartition } from '../../../../lib/keys/history/items.ts'
import { keptSince, positionKey } from '../../../../lib/keys/history/keptsince.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { interceptCalls, newWorld, type World } from '../../engine/controllers/world.ts'
import { historyOf, publisherOf, signal } from './publisher.ts'

const start = Date.parse('2026-11-21T12:00:00Z') / 1000
const hour = 3600

async function begun() {
  const clock = { at: start }
  const now = () => clock.at * 1000
  const world = await newWorld({ now: () => new Date(now()), tableNow: now })
  const publisher = publisherOf(world)
  await publisher.run()
  return { clock, world, publisher }
}

const uidOf = async ({ find }: World, name: string) => (await find(name))?.metadata.uid ?? ''
const itemsOf = async ({ storage }: World, pk: string) => (await storage.queryCompanions(pk)).items
const positionOf = ({ storage }: World) => getCompanion(storage, positionKey)

describe('the history of a key', () => {
  test('has who changed it and what, and where it was used from, with a bus that refuses all', async () => {
    const { world, publisher } = await begun()
    await world.make('ci')
    await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, description: 'secret plan' } }))
    await signal(world, 'reused', 'ci', { at: start + 1, ip: '192.0.2.1', userAgent: 'curl', value: 1 })
    const publish = () => Promise.reject(new Error('the bus is away'))
    await expect(publisher.run({ publish })).rejects.toThrow('away')
    await publisher.run()
    const actor = { user: 'admin' }
    const uid = await uidOf(world, 'ci')
    expect(await historyOf(world, uid)).toEqual([
      { kind: 'reused', at: start + 1, detail: { ip: '192.0.2.1', userAgent: 'curl', value: 1 } },
      { kind: 'changed', at: start, detail: { actor, fields: ['spec.description'] } },
      { kind: 'created', at: start, detail: { actor } },
    ])
    expect(JSON.stringify(await itemsOf(world, historyPartition(uid)))).not.toContain('plan')
  })

  test('has no addresses where they are not recorded', async () => {
    const { world, publisher } = await begun()
    await world.make('ci')
    await signal(world, 'first-used', 'ci', { at: start, ip: '192.0.2.1', userAgent: 'curl' })
    await publisher.run({ recordSources: false })
    expect(JSON.stringify(await itemsOf(world, historyPartition(await uidOf(world, 'ci'))))).not.toMatch(
      /192\.0\.2|curl/,
    )
    expect(publisher.events.some(({ data }) => data.ip === '192.0.2.1')).toBe(true)
  })

  test('goes with the key, and another key of its name has its own', async () => {
    const { world, publisher } = await begun()
    await world.make('ci')
    const uid = await uidOf(world, 'ci')
    await publisher.run()
    expect(await historyOf(world, uid)).toHaveLength(1)
    await signal(world, 'reused', 'ci', { at: start })
    await world.delete('ci')
    await world.make('ci')
    await publisher.run()
    expect(await historyOf(world, uid)).toEqual([])
    expect(await historyOf(world, await uidOf(world, 'ci'))).toMatchObject([{ kind: 'created' }])
  })

  // threat: events-8
  test('holds back nothing else when it is long: the rest expires', async () => {
    const { world, publisher } = await begun()
    await world.make('ci')
    const pk = historyPartition(await uidOf(world, 'ci'))
    for (let n = 0; n < 1100; n++)
      await world.storage.writeCompanion({ pk, sk: `3#${n}`, attributes: { expires: start } }, unhurried)
    await world.delete('ci')
    let dropped = 0
    const storage = interceptCalls(world.storage, async (name, call, [item]) => {
      if (name === 'writeCompanion' && (item as CompanionWrite).attributes === null) dropped++
      return call()
    })
    await publisher.run({ storage })
    expect(dropped).toBe(1000)
  })
})

describe('the time since when history is kept', () => {
  test('is that of the first key, if the first run reads the whole log', async () => {
    const { clock, world, publisher } = await begun()
    clock.at += 2 * hour
    await world.make('ci')
    await publisher.run()
    expect(keptSince(await positionOf(world))).toBe(0)
  })

  test('is that of the first run if the log no longer reaches back, and stays', async () => {
    const { clock, world, publisher } = await begun()
    await world.make('old')
    await world.storage.sweep(world.keys.kind.table)
    await world.storage.writeCompanion({ ...positionKey, attributes: null }, unhurried)
    clock.at += 25 * hour
    await publisher.run()
    const since = clock.at
    clock.at += 2 * hour
    await world.make('new')
    await publisher.run()
    expect(keptSince(await positionOf(world))).toBe(since)
  })

  // threat: events-9
  test('begins anew after a release that keeps none, and after a loss', async () => {
    const { clock, world, publisher } = await begun()
    const { storage } = world
    const move = async (attributes: object) =>
      storage.writeCompanion(
        { ...positionKey, attributes: { ...attributes }, when: { is: await positionOf(world) } },
        unhurried,
      )
    await move({ rv: 1, until: start })
    expect(keptSince(await positionOf(world))).toBeUndefined()
    clock.at += hour / 2
    await world.make('ci')
    await publisher.run()
    expect(keptSince(await positionOf(world))).toBe(start + hour / 2)
    await move({ rv: 700, until: clock.at, since: start })
    clock.at += hour / 2
    await publisher.run()
    expect(publisher.lost).toHaveLength(1)
    expect(keptSince(await positionOf(world))).toBe(start + hour)
  })
})
