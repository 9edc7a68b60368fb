/** Tests the collector on a timer: what it reads and when, and how it retries failures. */
import { beforeEach, describe, expect, test } from 'vitest'
import { createChangelogCollector } from '../../../../lib/engine/controllers/changelog.ts'
import { conflict, MODIFIED } from '../../../../lib/engine/meta/errors/status.ts'
import { StorageError } from '../../../../lib/engine/storage/errors.ts'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import { copyKey } from '../../../support/copies.ts'
import { interceptCalls, newWorld, reference, type World } from './world.ts'

const hour = 3_600_000
const ghost = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', name: 'x', uid: 'no-such-uid' }
let world: World
let elapsed: number
let calls: string[]
let storage: Storage
/** The errors that the next calls of a name throw. */
let failures: Map<string, Error>

beforeEach(async () => {
  world = await newWorld()
  elapsed = 0
  calls = []
  failures = new Map()
  storage = interceptCalls(world.storage, (name, call) => {
    calls.push(name)
    const failure = failures.get(name)
    return failure ? Promise.reject(failure) : call()
  })
})

function timer() {
  const collect = createChangelogCollector(() => elapsed)
  return async (hasTime = () => true) => {
    calls = []
    return collect({ ...world.collector(storage), hasTime })
  }
}

test('starts with all objects, then polls each log once and reads nothing', async () => {
  await world.make('o')
  await world.make('p-a/i')
  const run = timer()
  expect(await run()).toEqual({ tasks: 0, read: 2, failed: 0 })
  expect(calls).toContain('list')
  expect(await run()).toEqual({ tasks: 0, read: 0, failed: 0 })
  expect(calls).toEqual(['changes', 'changes'])
})

test('irrelevant changes cost only the read of their log', async () => {
  const run = timer()
  await run()
  const o = await world.make('o')
  await world.make('d', { ownerReferences: [reference(o)] })
  expect(await run()).toMatchObject({ tasks: 1, read: 0 })
  expect(calls).not.toContain('update')
  await world.change('d', (object) => ({ ...object, spec: { displayName: 'other' } }))
  await world.change('o', (object) => ({ ...object, spec: { displayName: 'other' } }))
  expect(await run()).toMatchObject({ tasks: 0 })
  expect(calls.filter((name) => name !== 'changes')).toEqual([])
})

test('checks all objects again every hour', async () => {
  await world.make('o')
  const run = timer()
  await run()
  elapsed = hour / 2
  expect(await run()).toMatchObject({ read: 0 })
  elapsed = hour
  expect(await run()).toMatchObject({ read: 1 })
  elapsed = hour + 1000
  expect(await run()).toMatchObject({ read: 0 })
})

test('checks all objects when the log no longer reaches back', async () => {
  await world.make('o')
  const run = timer()
  await run()
  let asked = 0
  const real = storage.changes
  storage = {
    ...storage,
    changes: async (table, since) => {
      if (asked++ === 0) throw new StorageError('Expired', 'gone')
      return real(table, since)
    },
  }
  await world.make('d', { ownerReferences: [ghost] })
  expect(await run()).toMatchObject({ read: 2, failed: 0 })
  expect(await world.find('d')).toBeUndefined()
})

test('an interrupted pass continues at its position', async () => {
  await world.make('copied', {}, { user: 'ci' })
  await copyKey(world.rows, 'copied', 509)
  await world.make('d', { ownerReferences: [ghost] })
  const run = timer()
  const allowOneStep = () => {
    let asked = 0
    return () => asked++ < 3
  }
  const read = []
  for (let remaining: boolean | undefined = true; remaining; ) {
    const outcome = await run(allowOneStep())
    read.push(outcome.read)
    remaining = outcome.remaining
  }
  expect(read.filter((count) => count > 0)).toEqual([500, 11])
  await run()
  expect(await world.find('d')).toBeUndefined()
})

describe('a pass that takes more than one process', () => {
  /** Allows time for this many pages. */
  const pages = (count: number) => () => calls.filter((name) => name === 'list').length < count

  async function make600(): Promise<void> {
    await world.make('copied', {}, { user: 'ci' })
    await copyKey(world.rows, 'copied', 599)
  }

  test('continues at the last position, then checks all objects', async () => {
    await make600()
    expect(await timer()(pages(1))).toMatchObject({ read: 500, remaining: true })
    // After the end of the first process, from its position.
    await world.make('a', { ownerReferences: [ghost] })
    const second = timer()
    expect(await second(pages(1))).toMatchObject({ read: 100, remaining: true })
    expect(await world.find('a')).toBeDefined()
    expect(await second()).toMatchObject({ read: 601 })
    expect(await world.find('a')).toBeUndefined()
    expect(await second()).toMatchObject({ read: 0 })
    // The pass is complete, so the next process starts at the beginning.
    expect(await timer()(pages(1))).toMatchObject({ read: 500 })
  })

  test('checks again what there was no time for', async () => {
    await make600()
    await world.make('a', { ownerReferences: [ghost] })
    expect(await timer()(pages(1))).toMatchObject({ read: 500, failed: 1, remaining: true })
    expect(await timer()()).toMatchObject({ read: 601, failed: 0 })
    expect(await world.find('a')).toBeUndefined()
  })

  test('starts at the beginning without a readable position', async () => {
    await world.make('o')
    for (const place of [{ resource: 'no-such-kind', after: 'o' }, { resource: 7 }]) {
      await world.rows.put([{ pk: 'collector#pass', sk: '#', ...place }])
      expect(await timer()()).toMatchObject({ read: 1 })
    }
  })
})

test('a failed task is retried with growing delays and does not stop other tasks', async () => {
  const run = timer()
  await run()
  await world.make('d1', { ownerReferences: [ghost] })
  const broken = new Error('broken')
  failures.set('update', broken)
  expect(await run()).toMatchObject({ tasks: 1, failed: 1, error: broken })
  expect(await run()).toEqual({ tasks: 0, read: 0, failed: 1 })
  elapsed += 1000
  expect(await run()).toMatchObject({ tasks: 1, failed: 1, error: broken })
  elapsed += 1000
  expect(await run()).toEqual({ tasks: 0, read: 0, failed: 1 })
  elapsed += 1000
  failures.clear()
  await world.make('d2', { ownerReferences: [ghost] })
  expect(await run()).toMatchObject({ failed: 0 })
  expect([await world.find('d1'), await world.find('d2')]).toEqual([undefined, undefined])
  expect(await run()).toEqual({ tasks: 0, read: 0, failed: 0 })
})

test('a task with conflicts is tried five times, then later', async () => {
  const run = timer()
  await run()
  await world.make('d', { ownerReferences: [ghost] })
  const lost = conflict({ group: 'management.platform', resource: 'ownedaccesskeys' }, 'd', MODIFIED)
  failures.set('update', lost)
  expect(await run()).toMatchObject({ tasks: 1, failed: 1, error: lost })
  expect(calls.filter((name) => name === 'update')).toHaveLength(5)
})

test('a task that keeps failing is finally retried every 256 seconds', async () => {
  const run = timer()
  await run()
  await world.make('d', { ownerReferences: [ghost] })
  failures.set('update', new Error('broken'))
  expect(await run()).toMatchObject({ tasks: 1, failed: 1 })
  for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 256]) {
    elapsed += 1000 * seconds - 1
    expect(await run()).toMatchObject({ tasks: 0, failed: 1 })
    elapsed += 1
    expect(await run()).toMatchObject({ tasks: 1, failed: 1 })
  }
})

test('after a failed read of a log, the next run reads from the same position', async () => {
  const run = timer()
  await run()
  await world.make('d', { ownerReferences: [ghost] })
  failures.set('changes', new StorageError('Unavailable', 'no'))
  await expect(run()).rejects.toThrow('no')
  failures.clear()
  expect(await run()).toMatchObject({ tasks: 2 })
  expect(await world.find('d')).toBeUndefined()
})

test('a failed start is repeated', async () => {
  const run = timer()
  failures.set('revision', new StorageError('Unavailable', 'no'))
  await expect(run()).rejects.toThrow('no')
  failures.clear()
  await world.make('d', { ownerReferences: [ghost] })
  expect(await run()).toMatchObject({ read: 1 })
  expect(await world.find('d')).toBeUndefined()
})

test('concurrent calls share one run', async () => {
  await world.make('o')
  const collect = createChangelogCollector(() => elapsed)
  const [one, other] = await Promise.all([collect(world.collector()), collect(world.collector())])
  expect(one).toBe(other)
  expect(await collect(world.collector())).not.toBe(one)
})
