/** Tests which keys the expiry sweep deletes and keeps, and how much it reads. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../lib/engine/meta/types.ts'
import { StorageError } from '../../../lib/engine/storage/errors.ts'
import type { Storage } from '../../../lib/engine/storage/interface.ts'
import type { ItemKey } from '../../../lib/engine/storage/keys.ts'
import { generateAccessKey } from '../../../lib/keys/credential/accesskey.ts'
import type { LifeLimits } from '../../../lib/keys/credential/keystatus.ts'
import { type Sweep, sweepExpired } from '../../../lib/keys/expirysweep.ts'
import { authenticate } from '../../../lib/keys/requests/authenticate.ts'
import { recordActivity } from '../../../lib/keys/requests/uses.ts'
import { authenticationDeps } from '../../../lib/server/authentication.ts'
import { copyKey } from '../../support/copies.ts'
import { endless } from '../../support/deadlines.ts'
import { createExchangedKey, newFederation } from '../../support/exchangedkeys.ts'
import { interceptCalls, newWorld, onceAfter, type World } from '../engine/controllers/world.ts'

const day = 86_400
const start = Date.parse('2026-11-21T00:00:00Z')

/** Returns a world with a clock in seconds after the start. */
async function begin(limits = {}) {
  const clock = { at: 0 }
  return { clock, world: await newWorld({ now: () => new Date(start + clock.at * 1000), limits }) }
}

const sweep = (world: World, options: Partial<Sweep> = {}) =>
  sweepExpired({
    store: world.over(options.storage ?? world.storage).keys,
    storage: world.storage,
    now: world.now,
    retentionSeconds: { exchanged: day, others: 7 * day },
    limits: {},
    hasTime: () => true,
    deadline: endless,
    maxDeletions: 1000,
    ...options,
  })

/** Uses a credential of a key at this time. */
const touch = ({ storage, keys }: World, { metadata }: KubeObject, credential: ItemKey, at: number) =>
  storage.touchActivity({
    table: keys.kind.table,
    key: metadata.name ?? '',
    uid: metadata.uid ?? '',
    at: at * 1000,
    credential: { ...credential, lastActivity: at, attributes: {}, same: {} },
  })

const names = async ({ storage, keys }: World) => (await storage.list(keys.kind.table, {})).items.map(({ key }) => key)

describe('a key', () => {
  test('is deleted when the retention after its expiry has passed, not a second earlier', async () => {
    const { clock, world } = await begin()
    await world.make('ci', {}, { ttl: 3600 })
    clock.at = 3600 + 7 * day - 1
    expect(await sweep(world)).toEqual({ seen: 0, deleted: 0, kept: 0, failed: 0, remaining: false })
    clock.at += 1
    expect(await sweep(world)).toEqual({ seen: 1, deleted: 1, kept: 0, failed: 0, remaining: false })
    expect(await names(world)).toEqual([])
    expect(await sweep(world)).toMatchObject({ seen: 0 })
    const { changes } = await world.storage.changes(world.keys.kind.table, 1)
    expect(changes.at(-1)).toMatchObject({ type: 'DELETED', by: { user: 'system:controller:expiry-sweep' } })
  })

  test('without an expiry is kept, disabled or not; a disabled one with an expiry is deleted', async () => {
    const { clock, world } = await begin()
    await world.make('endless')
    await world.make('off', {}, { disabled: true })
    await world.make('over', {}, { disabled: true, ttl: 1 })
    clock.at = 1000 * day
    expect(await sweep(world)).toMatchObject({ seen: 1, deleted: 1 })
    expect(await names(world)).toEqual(['endless', 'off'])
  })

  test('that is used expires after its last use', async () => {
    const { clock, world } = await begin()
    const key = await world.make('sliding', {}, { ttl: day, ttlAfterLastActivity: true })
    const { pk, sk } = await world.credential('sliding')
    // The index entry is older than the last use.
    await touch(world, key, { pk, sk }, start / 1000 + 20 * day)
    clock.at = 22 * day
    expect(await sweep(world)).toMatchObject({ seen: 1, deleted: 0, kept: 1 })
    clock.at = 28 * day
    expect(await sweep(world)).toMatchObject({ deleted: 1 })
  })

  test('whose current value is not used is kept while another value is', async () => {
    const { clock, world } = await begin()
    const key = await world.make('sliding', {}, { ttl: day, ttlAfterLastActivity: true })
    const other = { pk: 'credential#1#other', sk: '#' }
    await world.storage.writeCompanion({ ...other, attributes: {} }, { deadline: endless })
    await touch(world, key, other, start / 1000 + 20 * day)
    clock.at = 28 * day - 1
    expect(await sweep(world)).toMatchObject({ seen: 1, deleted: 0, kept: 1 })
    clock.at += 1
    expect(await sweep(world)).toMatchObject({ deleted: 1 })
  })

  // threat: use-10
  test('whose ttl is shortened while it is used is deleted at its new expiry', async () => {
    const { clock, world } = await begin()
    await world.make('raced', {}, { ttl: 900 * day })
    const [, version = '', hash = ''] = (await world.credential('raced')).pk.split('#')
    const { storage } = world
    const parts = { storage, hashes: async () => [{ version, hash }], limits: {}, recordSources: false }
    const deps = { ...authenticationDeps(parts, () => {}), now: () => world.now().getTime() }
    const used = await authenticate(generateAccessKey(randomBytes), deps)
    if (!('user' in used)) throw new Error('not authenticated')
    await world.change('raced', (object) => ({ ...object, spec: { ttl: 1 } }))
    await recordActivity(used.presented, deps)
    clock.at = 8 * day
    expect(await sweep(world)).toMatchObject({ seen: 1, deleted: 1 })
  })

  test('with finalizers is marked once and then left alone', async () => {
    const { clock, world } = await begin()
    await world.make('held', { finalizers: ['example.com/hold'] }, { ttl: 1 })
    clock.at = 8 * day
    expect(await sweep(world)).toMatchObject({ seen: 1, deleted: 1 })
    expect((await world.find('held'))?.metadata.deletionTimestamp).toBeDefined()
    expect(await sweep(world)).toMatchObject({ seen: 0 })
  })

  test('that an exchange made has a retention of its own', async () => {
    const { clock, world } = await begin()
    const server = { storage: world.storage, storeOf: () => world.keys }
    await createExchangedKey(server, newFederation(), { metadata: { name: 'job' }, now: world.now() })
    await world.make('ci', {}, { ttl: 3600 })
    clock.at = 3600 + day - 1
    expect(await sweep(world)).toMatchObject({ seen: 0 })
    clock.at += 1
    expect(await sweep(world)).toMatchObject({ seen: 1, deleted: 1 })
    expect(await names(world)).toEqual(['ci'])
    clock.at = 3600 + 7 * day
    await createExchangedKey(server, newFederation(), { metadata: { name: 'late' }, now: new Date(start) })
    expect(await sweep(world, { maxDeletions: 1 })).toMatchObject({ deleted: 1, remaining: true })
    expect(await sweep(world, { maxDeletions: 1 })).toMatchObject({ deleted: 1, remaining: false })
    expect(await names(world)).toEqual([])
  })

  test('that was deleted and recreated is another key', async () => {
    const { clock, world } = await begin()
    await world.make('ci', {}, { ttl: 1 })
    clock.at = 8 * day
    const storage = onceAfter(world, 'queryCompanions', async () => {
      await world.delete('ci')
      await world.make('ci', {}, { ttl: 1 })
    })
    expect(await sweep(world, { storage })).toMatchObject({ seen: 1, deleted: 0, kept: 1 })
    expect(await names(world)).toEqual(['ci'])
  })
})

test('a key that is deleted in the meantime is skipped', async () => {
  const { clock, world } = await begin()
  await world.make('held', { finalizers: ['example.com/hold'] }, { ttl: 1 })
  clock.at = 8 * day
  const storage = onceAfter(world, 'queryCompanions', async () => {
    await world.delete('held')
  })
  expect(await sweep(world, { storage })).toMatchObject({ seen: 1, deleted: 0, kept: 1 })
})

test('a credential of an earlier object does not delete a new one of its name', async () => {
  const { clock, world } = await begin()
  await world.make('ci', {}, { ttl: 1 })
  const { attributes, sk } = await world.credential('ci')
  await world.delete('ci')
  await world.make('ci')
  await world.rows.put([{ ...attributes, pk: 'credential#1#left-behind', sk }])
  clock.at = 30 * day
  expect(await sweep(world)).toMatchObject({ seen: 1, deleted: 0, kept: 1 })
  expect(await names(world)).toEqual(['ci'])
})

test('pages of stale entries hide no expired key', async () => {
  const { clock, world } = await begin()
  await world.make('living', {}, { ttl: 1000 * day })
  const { attributes, sk } = await world.credential('living')
  await world.rows.put(
    Array.from({ length: 150 }, (_, index) => ({
      ...attributes,
      expiry: start / 1000,
      pk: `credential#1#${index}`,
      sk,
    })),
  )
  await world.make('over', {}, { ttl: 1 })
  clock.at = 30 * day
  expect(await sweep(world)).toEqual({ seen: 151, deleted: 1, kept: 150, failed: 0, remaining: false })
  expect(await names(world)).toEqual(['living'])
})

describe('a key that becomes valid again', () => {
  const revivals = ['queryCompanions', 'get'] as const

  test.each(revivals)('after %s is not deleted', async (moment) => {
    const { clock, world } = await begin()
    await world.make('ci', {}, { ttl: 3600 })
    clock.at = 30 * day
    const storage = onceAfter(world, moment, async () => {
      await world.change('ci', (object) => ({ ...object, spec: { ttl: 365 * day } }))
    })
    expect(await sweep(world, { storage })).toMatchObject({ seen: 1, deleted: 0, kept: 1, failed: 0 })
    expect((await world.find('ci'))?.spec).toEqual({ ttl: 365 * day })
    expect((await world.find('ci'))?.metadata.deletionTimestamp).toBeUndefined()
  })
})

describe('a maximum ttl', () => {
  test('that was raised keeps the keys that it allows', async () => {
    const { clock, world } = await begin({ maxTtl: day })
    await world.make('ci')
    clock.at = 30 * day
    expect(await sweep(world, { limits: { maxTtl: 365 * day } })).toMatchObject({ seen: 1, kept: 1 })
    expect(await names(world)).toEqual(['ci'])
    expect(await sweep(world, { limits: { maxTtl: day } })).toMatchObject({ deleted: 1 })
  })

  test('that was lowered reaches keys once they are written again', async () => {
    const limits: LifeLimits = {}
    const { clock, world } = await begin(limits)
    await world.make('ci')
    clock.at = 30 * day
    limits.maxTtl = day
    expect(await sweep(world, { limits })).toMatchObject({ seen: 0 })
    await world.change('ci', (object) => ({ ...object, spec: { displayName: 'CI' } }))
    expect(await sweep(world, { limits })).toMatchObject({ deleted: 1 })
  })
})

test('120 expired keys among 1,500 are deleted in bounded runs, whose reads grow with the expired keys only', async () => {
  const { clock, world } = await begin()
  await world.make('dead', {}, { ttl: 60, user: 'ci' })
  await copyKey(world.rows, 'dead', 119)
  // Valid keys that the index could list as expired.
  for (const [name, spec] of [
    ['living', { ttl: 1000 * day }],
    ['endless', {}],
  ] as const) {
    await world.make(name, {}, spec)
    const { attributes } = await world.credential(name)
    const pk = (index: number) => `credential#1#${name}${index}`
    await world.rows.put(Array.from({ length: 689 }, (_, index) => ({ ...attributes, pk: pk(index), sk: '#' })))
  }
  clock.at = 30 * day
  const calls = new Map<string, number>()
  const storage = interceptCalls(world.storage, (name, call) => {
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return call()
  })
  const runs = []
  for (let remaining = true; remaining; ) {
    calls.clear()
    const swept = await sweep(world, { storage, maxDeletions: 50 })
    remaining = swept.remaining
    runs.push(swept)
    const pages = Math.ceil(swept.seen / 100)
    expect(Object.fromEntries(calls)).toEqual({
      // Without limits left, the partition of exchanged keys is not read.
      queryCompanions: remaining ? pages : pages + 1,
      get: swept.seen,
      update: swept.deleted,
    })
  }
  expect(runs.map(({ deleted, kept, failed, remaining }) => [deleted, kept, failed, remaining])).toEqual([
    [50, 0, 0, true],
    [50, 0, 0, true],
    [20, 0, 0, false],
  ])
  expect(runs.map(({ seen }) => seen)).toEqual([100, 70, 20])
  expect(await names(world)).toEqual(['endless', 'living'])
})

describe('a run', () => {
  const createExpired = async (count: number) => {
    const { clock, world } = await begin()
    await Promise.all(Array.from({ length: count }, (_, index) => world.make(`k${index}`, {}, { ttl: 60 })))
    clock.at = 30 * day
    return world
  }

  test('that runs out of time leaves the rest to the next', async () => {
    const world = await createExpired(20)
    let steps = 0
    const first = await sweep(world, { hasTime: () => steps++ < 25 })
    expect(first).toMatchObject({ seen: 20, deleted: 5, remaining: true })
    expect(await names(world)).toHaveLength(15)
    expect(await sweep(world, { hasTime: () => false })).toMatchObject({ deleted: 0, remaining: true })
    expect(await sweep(world)).toMatchObject({ seen: 15, deleted: 15, remaining: false })
  })

  test('continues after a failure, and reports it', async () => {
    const world = await createExpired(5)
    const { storage } = world
    const broken = new StorageError('Busy', 'too many tries')
    const update: Storage['update'] = (table, key, ...rest) =>
      key === 'k2' ? Promise.reject(broken) : storage.update(table, key, ...rest)
    const swept = await sweep(world, { storage: { ...storage, update } })
    expect(swept).toEqual({ seen: 5, deleted: 4, kept: 0, failed: 1, error: broken, remaining: false })
    expect(await names(world)).toEqual(['k2'])
  })

  test('continues after an unreadable key', async () => {
    const world = await createExpired(3)
    const { storage } = world
    const get: Storage['get'] = async (table, key) => {
      const stored = await storage.get(table, key)
      return stored && (key === 'k1' ? { ...stored, internal: {} } : stored)
    }
    const swept = await sweep(world, { storage: { ...storage, get } })
    expect(swept).toMatchObject({ seen: 3, deleted: 2, failed: 1 })
  })

  test('beside another run deletes each key once', async () => {
    const world = await createExpired(40)
    const both = await Promise.all([sweep(world), sweep(world)])
    expect(both.map(({ failed }) => failed)).toEqual([0, 0])
    expect([both.reduce((sum, { deleted }) => sum + deleted, 0), await names(world)]).toEqual([40, []])
  })
})
