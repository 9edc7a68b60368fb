/** Tests that what ends keys brings forward the removal of the Secrets to which their tokens are bound. */
import { describe, expect, test } from 'vitest'
import {
  announceEnding,
  type Bound,
  boundAttributes,
  boundKey,
  readBound,
} from '../../../../lib/authentication/boundsecrets.ts'
import { getCompanion } from '../../../../lib/storage/readcompanions.ts'
import { endless } from '../../../support/deadlines.ts'
import { newWorld } from '../world.ts'
import { publisherOf } from './publisher.ts'

const PROD = 'clusters/prod/u1'
const LATER = 4_000_000_000

async function begin() {
  const clock = { at: Math.floor(Date.now() / 1000) }
  const world = await newWorld({ now: () => new Date(clock.at * 1000) })
  const { storage } = world
  let woken = 0
  const publisher = publisherOf(world)
  const run = async () => {
    woken = 0
    await publisher.run({ wake: async () => void woken++ })
    return woken
  }
  async function bind(uid: string, more: Partial<Bound> = {}, place = PROD, slot = '1') {
    const bound: Bound = {
      ...{ name: 'ci', uid, account: 'user.alice', namespace: 'keyplane', secret: 's', secretRef: 'prod' },
      ...{ server: 'https://prod.example', since: clock.at - 10, until: LATER, ...more },
    }
    const item = { ...boundKey(uid, place, slot), attributes: boundAttributes(bound, LATER) }
    await storage.writeCompanion(item, { deadline: endless })
  }
  const read = async (uid: string, place = PROD, slot = '1') => {
    const item = await getCompanion(storage, boundKey(uid, place, slot))
    return item && readBound(item)
  }
  return { world, storage, clock, run, bind, read }
}

describe('the Secrets of a key', () => {
  test.each(['disabled', 'deleted'])('that is %s end for good, and at once', async (how) => {
    const { world, clock, run, bind, read } = await begin()
    const uid = (await world.make('ci')).metadata.uid ?? ''
    await bind(uid)
    await bind(uid, {}, 'clusters/other/u2')
    await bind('another')
    await run()
    if (how === 'deleted') await world.delete('ci')
    else await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, disabled: true } }))
    expect(await run()).toBe(1)
    for (const place of [PROD, 'clusters/other/u2'])
      expect(await read(uid, place)).toMatchObject({ ended: expect.any(Number), expiry: clock.at })
    expect(await read('another')).toMatchObject({ expiry: LATER })
    expect(await run()).toBe(0)
  })

  test('that is enabled again stay ended, and a later one is only judged', async () => {
    const { world, clock, run, bind, read } = await begin()
    const uid = (await world.make('ci')).metadata.uid ?? ''
    await bind(uid)
    await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, disabled: true } }))
    await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, disabled: false } }))
    await bind(uid, { since: LATER - 1000 }, PROD, '2')
    await run()
    expect(await read(uid)).toMatchObject({ ended: expect.any(Number), expiry: clock.at })
    const later = await read(uid, PROD, '2')
    expect(later).toMatchObject({ expiry: clock.at })
    expect(later).not.toHaveProperty('ended')
  })

  test('that is changed otherwise are judged', async () => {
    const { world, clock, run, bind, read } = await begin()
    const uid = (await world.make('ci')).metadata.uid ?? ''
    await run()
    await bind(uid)
    await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, scope: {} } }))
    expect(await run()).toBe(1)
    const bound = await read(uid)
    expect(bound).toMatchObject({ expiry: clock.at })
    expect(bound).not.toHaveProperty('ended')
  })

  test('are brought forward again if the run failed after that', async () => {
    const { world, clock, bind, read } = await begin()
    const uid = (await world.make('ci')).metadata.uid ?? ''
    await bind(uid)
    await world.delete('ci')
    const publisher = publisherOf(world)
    let woken = 0
    const publish = async () => {
      throw new Error('no bus')
    }
    await expect(publisher.run({ publish, wake: async () => void woken++ })).rejects.toThrow('no bus')
    expect([woken, await read(uid)]).toEqual([1, expect.objectContaining({ expiry: clock.at })])
  })
})

test.each([
  ['trust#t1', ['a']],
  ['provider#p1', ['a', 'b']],
  [PROD, ['a', 'b', 'c']],
  ['trust#undefined', []],
] as const)('what %s has let through is judged, and once more a minute later', async (what, uids) => {
  const { storage, clock, run, bind, read } = await begin()
  await bind('a', { trust: 't1', provider: 'p1' })
  await bind('b', { trust: 't2', provider: 'p1' })
  await bind('c')
  await bind('d', { trust: 't3', provider: 'p3' }, 'clusters/other/u2')
  const { op: _, ...announced } = announceEnding(what as Parameters<typeof announceEnding>[0]) as never as {
    op: string
    pk: string
    sk: string
    attributes: object
  }
  await storage.writeCompanion({ ...announced, attributes: {} }, { deadline: endless })
  expect(await run()).toBe(uids.length > 0 ? 1 : 0)
  const due = async () => {
    const found = await Promise.all(['a', 'b', 'c', 'd'].map(async (uid) => [uid, await read(uid)] as const))
    const all = [...found, ['d', await read('d', 'clusters/other/u2')] as const]
    return all.filter(([, bound]) => bound && (bound.expiry ?? 0) <= clock.at).map(([uid]) => uid)
  }
  expect(await due()).toEqual(uids)
  // The index may have lacked this one.
  await bind('a', { trust: 't1', provider: 'p1' })
  clock.at += 61
  await run()
  expect((await due()).includes('a')).toBe((uids as readonly string[]).includes('a'))
  expect((await storage.queryCompanions('ending')).items).toEqual([])
})
