/** Tests that every event is published at least once, with one id, through interruptions, repeats and concurrent runs. */
import { describe, expect, test } from 'vitest'
import { StorageError } from '../../../../lib/engine/storage/errors.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { kindOf } from '../../../../lib/keys/events/event.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { interceptCalls, newWorld, type World } from '../../engine/controllers/world.ts'
import { changeInternal, hash, historyOf, publisherOf, signal } from './publisher.ts'

const [minute, hour, day] = [60, 3600, 86_400]
const start = Date.parse('2026-11-21T12:00:00Z') / 1000

async function begin(limits = {}) {
  const clock = { at: start }
  const now = () => clock.at * 1000
  const world = await newWorld({ now: () => new Date(now()), tableNow: now, limits })
  return { clock, world, publisher: publisherOf(world, limits) }
}

/** Returns a scene whose first run is over. */
async function begun() {
  const scene = await begin()
  await scene.publisher.run()
  return scene
}

/** Something of every kind, after a run at the start. */
async function everything({ clock, world, publisher }: Awaited<ReturnType<typeof begin>>): Promise<string[]> {
  await publisher.run()
  await world.make('ci', {}, { ttl: 40 * day })
  await world.make('short', {}, { ttl: hour })
  await world.make('gone')
  await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, displayName: 'CI' } }))
  await signal(world, 'first-used', 'ci', { at: clock.at, value: 1 })
  await changeInternal(world, 'ci', (internal) => ({
    ...internal,
    pending: { credential: hash('two'), number: 2, made: clock.at - 2 * hour, overlap: 60 },
  }))
  await stalls(world, 'ci', clock.at + 22 * hour)
  await world.delete('gone')
  await pass({ clock, world }, 12 * hour)
  await signal(world, 'rotated', 'ci', { at: clock.at, value: 2 })
  await signal(world, 'reused', 'ci', { at: clock.at, value: 1, ip: '192.0.2.1', userAgent: 'curl' })
  await signal(world, 'source-refused', 'ci', { at: clock.at, ip: '192.0.2.1' })
  await signal(world, 'leaked', 'ci', { at: clock.at, url: 'https://example.com/leak' })
  await pass({ clock, world }, 10 * hour + 30 * minute)
  return [
    'changed ci',
    'created ci',
    'created gone',
    'created short',
    'expired short',
    'first-used ci',
    'leaked ci',
    'reused ci',
    'revoked gone',
    'rotated ci',
    'rotation-stalled ci',
    'rotation-started ci',
    'source-refused ci',
  ]
}

/** Lets time pass, in which the log is settled as a deployment does it. */
async function pass({ clock, world }: Pick<Awaited<ReturnType<typeof begin>>, 'clock' | 'world'>, seconds: number) {
  for (const end = clock.at + seconds; clock.at < end; ) {
    clock.at = Math.min(end, clock.at + 6 * hour)
    await world.storage.sweep(world.keys.kind.table)
  }
}

/** Puts the entry of an open rotation into the index. */
async function stalls({ storage, find }: World, name: string, at: number): Promise<void> {
  const uid = (await find(name))?.metadata.uid ?? ''
  const attributes = { name, uid, expiryIndex: 'rotation', expiry: at }
  await storage.writeCompanion({ pk: 'credential#1#pending', sk: '#', attributes }, unhurried)
}

const toldBy = (events: readonly { type: string; data: { name?: unknown } }[]) => [
  ...new Set(events.map((event) => `${kindOf(event as never)} ${event.data.name}`)),
]

test('publishes everything that happened, once', async () => {
  const scene = await begin()
  const expected = await everything(scene)
  const { world, publisher } = scene
  await publisher.run()
  expect(publisher.events.map((event) => `${kindOf(event)} ${event.data.name}`).sort()).toEqual(expected)
  expect(new Set(publisher.events.map(({ id }) => id)).size).toBe(expected.length)
  const [reused] = publisher.events.filter((event) => kindOf(event) === 'reused')
  expect(reused?.data).toMatchObject({ owner: 'admin', value: 1, ip: '192.0.2.1', userAgent: 'curl', phase: 'Active' })
  const leaked = publisher.events.find((event) => kindOf(event) === 'leaked')
  expect(leaked?.data).toMatchObject({ url: 'https://example.com/leak' })
  await publisher.run()
  expect(publisher.events).toHaveLength(expected.length)
  expect(await getCompanion(world.storage, { pk: 'lifecycle#position', sk: '#' })).toBeDefined()
})

test('tells of expiries also after a first run whose clock was ahead', async () => {
  const scene = await begin()
  const { clock, world, publisher } = scene
  clock.at += 400 * day
  await publisher.run()
  clock.at = start
  await world.make('short', {}, { ttl: hour })
  await publisher.run()
  await pass(scene, 3 * hour)
  expect(await publisher.news()).toEqual([['created short'], ['expired short']])
})

class Dead extends Error {}

/** A storage and a bus whose process dies at the nth call, before it is sent or before its answer arrives. */
function stopAt(world: World, n: number, when: 'before' | 'after') {
  let calls = 0
  const around = async <T>(_: string, call: () => Promise<T>): Promise<T> => {
    calls++
    if (calls > n || (calls === n && when === 'before')) throw new Dead()
    const answer = await call()
    if (calls >= n) throw new Dead()
    return answer
  }
  return { storage: interceptCalls(world.storage, around), around, died: () => calls >= n }
}

describe.each(['before', 'after'] as const)('a run that dies %s a call', (when) => {
  // threat: events-2
  test('misses nothing, and repeats have the same ids', async () => {
    for (let n = 1; ; n++) {
      const scene = await begin()
      const expected = await everything(scene)
      const { world, publisher } = scene
      const { storage, around, died } = stopAt(world, n, when)
      const publish = (all: typeof publisher.events) =>
        around('publish', async () => void publisher.events.push(...all))
      await publisher.run({ storage, publish: publish as never }).catch((error: unknown) => {
        if (!(error instanceof Dead)) throw error
      })
      await publisher.run()
      expect([n, toldBy(publisher.events).sort()]).toEqual([n, expected])
      expect([n, new Set(publisher.events.map(({ id }) => id)).size]).toEqual([n, expected.length])
      const history = await historyOf(world, (await world.find('ci'))?.metadata.uid)
      const ofKey = expected.filter((one) => one.endsWith(' ci'))
      expect([n, history.map(({ kind }) => `${kind} ci`).sort()]).toEqual([n, ofKey])
      if (!died()) return expect(n).toBeGreaterThan(15)
    }
  })
})

// threat: events-2
test('runs at the same time miss nothing and continue from one position', async () => {
  const scene = await begin()
  const expected = await everything(scene)
  const { publisher } = scene
  await Promise.all(Array.from({ length: 4 }, () => publisher.run()))
  expect(toldBy(publisher.events).sort()).toEqual(expected)
  expect(new Set(publisher.events.map(({ id }) => id)).size).toBe(expected.length)
  const count = publisher.events.length
  await publisher.run()
  expect(publisher.events).toHaveLength(count)
})

test('a run that is slow never moves the position back', async () => {
  const { world, publisher } = await begun()
  await world.make('one')
  await publisher.run({
    async publish(all) {
      await world.make('two')
      await publisher.run()
      publisher.events.push(...all)
    },
  })
  await publisher.run()
  const names = publisher.events.map(({ data }) => data.name)
  expect(names.filter((name) => name === 'two')).toHaveLength(1)
})

// threat: events-2
test('what the bus refuses is published by the next run', async () => {
  const { world, publisher } = await begun()
  await world.make('ci')
  await signal(world, 'first-used', 'ci', { at: start })
  const refuse = () => Promise.reject(new Error('the bus is away'))
  await expect(publisher.run({ publish: refuse })).rejects.toThrow('the bus is away')
  await publisher.run()
  expect(toldBy(publisher.events)).toEqual(['created ci', 'first-used ci'])
})

test('a run out of time continues in the next one', async () => {
  const { world, publisher } = await begun()
  for (let count = 0; count < 600; count++) await world.make(`k${count}`)
  expect(await publisher.run({ hasTime: () => false })).toMatchObject({ remaining: true })
  expect(publisher.events.length).toBeLessThan(600)
  await publisher.run()
  expect(publisher.events).toHaveLength(600)
})

describe('the first run', () => {
  test('begins with the log', async () => {
    const { world, publisher } = await begin()
    await world.make('ci')
    await publisher.run()
    expect(toldBy(publisher.events)).toEqual(['created ci'])
    expect(publisher.lost).toEqual([])
  })

  test('begins at its end if its beginning has expired, and that is not a loss', async () => {
    const { clock, world, publisher } = await begin()
    await world.make('old')
    await world.storage.sweep(world.keys.kind.table)
    clock.at += 25 * hour
    await publisher.run()
    await world.make('new')
    await publisher.run()
    expect(toldBy(publisher.events)).toEqual(['created new'])
    expect(publisher.lost).toEqual([])
  })
})

describe('a log that no longer reaches back', () => {
  test('is reported before the run continues at its end', async () => {
    const { clock, world, publisher } = await begun()
    await world.make('missed')
    await world.storage.sweep(world.keys.kind.table)
    clock.at += 25 * hour
    const died = publisher.run({
      lost() {
        throw new Dead()
      },
    })
    await expect(died).rejects.toThrow(Dead)
    await publisher.run()
    expect(publisher.lost).toEqual([[1, 2]])
    await world.make('new')
    await publisher.run()
    expect(publisher.lost).toHaveLength(1)
    expect(toldBy(publisher.events)).toContain('created new')
  })

  test('is also one of another table', async () => {
    const { world, publisher } = await begun()
    const item = await getCompanion(world.storage, { pk: 'lifecycle#position', sk: '#' })
    await world.storage.writeCompanion(
      { pk: 'lifecycle#position', sk: '#', attributes: { rv: 700, until: start }, when: { is: item } },
      unhurried,
    )
    await publisher.run()
    expect(publisher.lost).toEqual([[700, 1]])
  })

  test('is not what other errors are', async () => {
    const { world, publisher } = await begun()
    const changes = () => Promise.reject(new StorageError('Unavailable', 'away'))
    await expect(publisher.run({ storage: { ...world.storage, changes } })).rejects.toThrow('away')
    expect(publisher.lost).toEqual([])
  })
})

describe('signals', () => {
  test('of a key that is gone tell what they know', async () => {
    const { world, publisher } = await begun()
    const { metadata } = await world.make('ci')
    await signal(world, 'reused', 'ci', { at: start, ip: '192.0.2.1' })
    await world.delete('ci')
    await world.make('ci')
    await publisher.run()
    const [reused] = publisher.events.filter((event) => kindOf(event) === 'reused')
    expect(reused?.data).toEqual({ name: 'ci', uid: metadata.uid, ip: '192.0.2.1' })
  })

  test('of yesterday are found in the first hour of a day, and older ones hourly', async () => {
    const { clock, world, publisher } = await begin()
    await world.make('ci')
    await publisher.run()
    await signal(world, 'reused', 'ci', { at: clock.at })
    clock.at = start + 12 * hour + 10 * minute
    await publisher.run()
    expect(toldBy(publisher.events)).toContain('reused ci')
    await signal(world, 'leaked', 'ci', { at: clock.at - 5 * day })
    await publisher.run()
    expect(toldBy(publisher.events)).not.toContain('leaked ci')
    clock.at += 2 * hour
    await publisher.run()
    expect(toldBy(publisher.events)).toContain('leaked ci')
  })

  // threat: events-3
  test('are published once and not read again, however many there are', async () => {
    const { world, publisher } = await begin()
    await world.make('ci')
    for (let value = 0; value < 1100; value++) {
      await signal(world, value % 2 ? 'first-used' : 'reused', 'ci', { at: start, value })
    }
    await publisher.run()
    const published = publisher.events.length
    expect(published).toBe(1 + 1100)
    let read = 0
    const queryCompanions: typeof world.storage.queryCompanions = async (...query) => {
      const page = await world.storage.queryCompanions(...query)
      read += page.items.length
      return page
    }
    await publisher.run({ storage: { ...world.storage, queryCompanions } })
    expect([publisher.events.length, read]).toEqual([published, 0])
  })

  // threat: events-3
  test('that recur on the same day are published once, and again on another day', async () => {
    const { clock, world, publisher } = await begin()
    await world.make('ci')
    const reused = () => publisher.events.filter((event) => kindOf(event) === 'reused').length
    for (let run = 0; run < 3; run++) {
      await signal(world, 'reused', 'ci', { at: clock.at })
      await publisher.run()
    }
    expect(reused()).toBe(1)
    await pass({ clock, world }, day)
    await signal(world, 'reused', 'ci', { at: clock.at })
    await publisher.run()
    expect(reused()).toBe(2)
  })
})

describe('a moving clock', () => {
  /** Runs every so often for some days. Returns the events of the clock, with when they were published. */
  async function watch(spec: object, { days, every = 4 * hour, use }: { days: number; every?: number; use?: number }) {
    const { clock, world, publisher } = await begun()
    await world.make('ci', {}, spec as never)
    await publisher.run()
    const found: [number, string, unknown][] = []
    let seen = publisher.events.length
    while (clock.at < start + days * day) {
      clock.at += every
      if (use !== undefined && clock.at <= start + use) await useKey(world, clock.at)
      await publisher.run()
      for (const event of publisher.events.slice(seen)) {
        found.push([Math.floor((clock.at - start) / day), kindOf(event), event.data.days])
      }
      seen = publisher.events.length
    }
    return found
  }

  async function useKey(world: World, at: number) {
    const stored = await world.storage.get(world.keys.kind.table, 'ci')
    const { pk, sk } = await world.credential('ci')
    const expiry = at + Number(stored?.object.spec?.ttl)
    await world.storage.touchActivity({
      table: world.keys.kind.table,
      key: 'ci',
      uid: stored?.object.metadata.uid ?? '',
      at: at * 1000,
      credential: { pk, sk, lastActivity: at, attributes: { expiry, expiryIndex: 'credential' }, same: {} },
    })
  }

  test('tells 30, 14, 7 and 1 days before the end of a long-lived key, and of its end', async () =>
    expect(await watch({ ttl: 120 * day }, { days: 121, every: 12 * hour })).toEqual([
      [90, 'expiring', 30],
      [106, 'expiring', 14],
      [113, 'expiring', 7],
      [119, 'expiring', 1],
      [120, 'expired', undefined],
    ]))

  test('tells of short-lived keys only where the ttl is four times the days', async () => {
    expect(await watch({ ttl: 28 * day }, { days: 30 })).toEqual([
      [21, 'expiring', 7],
      [27, 'expiring', 1],
      [28, 'expired', undefined],
    ])
    expect(await watch({ ttl: 4 * day - 1 }, { days: 5 })).toEqual([[4, 'expired', undefined]])
  })

  test('tells each of these once, however seldom it runs', async () => {
    const told = await watch({ ttl: 120 * day }, { days: 150, every: 9 * day })
    expect(told.map(([, ...rest]) => rest)).toEqual([
      ['expiring', 30],
      ['expiring', 14],
      ['expiring', 7],
      ['expired', undefined],
    ])
  })

  test('tells of a key in use when it is not used any more', async () =>
    expect(await watch({ ttl: 10 * day, ttlAfterLastActivity: true }, { days: 31, use: 20 * day })).toEqual([
      [29, 'expiring', 1],
      [30, 'expired', undefined],
    ]))

  test('tells nothing of a key that is disabled', async () => {
    const { clock, world, publisher } = await begin()
    await world.make('off', {}, { ttl: 40 * day, disabled: true })
    await publisher.run()
    clock.at += 41 * day
    await publisher.run()
    expect(toldBy(publisher.events)).toEqual(['created off'])
  })

  test('tells of an expiry that a lowered maximum moved', async () => {
    const limits: { maxTtl?: number } = {}
    const { clock, world, publisher } = await begin(limits)
    await world.make('ci', {}, { ttl: 2 * day })
    await publisher.run()
    limits.maxTtl = day
    clock.at += 2 * day + 2 * hour
    await publisher.run()
    expect(toldBy(publisher.events)).toEqual(['created ci', 'expired ci'])
  })
})

test('a stalled rotation is told of once, and not if its value was used', async () => {
  const { clock, world, publisher } = await begin()
  for (const [name, made] of [['stalled', start] as const, ['used', start - hour] as const]) {
    await world.make(name)
    await changeInternal(world, name, (internal) => ({
      ...internal,
      pending: { credential: hash(name), number: 2, made, overlap: 60 },
    }))
  }
  await publisher.run()
  await stalls(world, 'stalled', start + day)
  const uid = (await world.find('used'))?.metadata.uid ?? ''
  const attributes = { name: 'used', uid, expiryIndex: 'rotation', expiry: start + day }
  await world.storage.writeCompanion({ pk: 'credential#1#used', sk: '#', attributes }, unhurried)
  for (clock.at += day + 2 * minute; clock.at < start + 3 * day; clock.at += hour) await publisher.run()
  const stalled = publisher.events.filter((event) => kindOf(event) === 'rotation-stalled')
  expect(stalled.map(({ data, time }) => [data.name, data.value, time])).toEqual([
    ['stalled', 2, '2026-11-22T12:00:00Z'],
  ])
})
