/** Tests that what ends keys brings forward the removal of the Secrets to which their tokens are bound. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { Table } from '../../../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { FederatedIdentityCredential } from '../../../../lib/federation/federatedidentitycredential.ts'
import {
  type Bound,
  boundItem,
  boundKey,
  type Ending,
  endingItem,
  readBound,
} from '../../../../lib/keys/credential/boundsecrets.ts'
import type { Lifecycle } from '../../../../lib/keys/events/lifecycle.ts'
import { endless } from '../../../support/deadlines.ts'
import { newWorld } from '../../engine/controllers/world.ts'
import { publisherOf } from './publisher.ts'

const PROD = 'clusters/prod/u1'
const LATER = 4_000_000_000

async function begin() {
  const clock = { at: Math.floor(Date.now() / 1000) }
  const world = await newWorld({ now: () => new Date(clock.at * 1000) })
  const { storage } = world
  let woken = 0
  const publisher = publisherOf(world)
  const run = async (parts: Partial<Lifecycle> = {}) => {
    woken = 0
    await publisher.run({ wake: async () => void woken++, ...parts })
    return woken
  }
  async function bind(uid: string, more: Partial<Bound> = {}, place = PROD, slot = '1') {
    const bound: Bound = {
      ...{ name: 'ci', uid, account: 'user.alice', namespace: 'keyplane', secret: 's', secretRef: 'prod' },
      ...{ server: 'https://prod.example', since: clock.at - 10, until: LATER, ...more },
    }
    const item = boundItem(boundKey(uid, place, slot), bound, LATER)
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

/** Two trusts of provider p1 and one of p3, whose names begin alike, and a key of each: `a`, `b` and `d`. `c` is of no exchange. */
async function beginFederation() {
  const begun = await begin()
  const { world, storage, clock, bind, read } = begun
  const at = clock.at
  const put = async (table: Table, name: string, uid: string, internal: (from: JsonObject) => JsonObject) => {
    const object = (await world.make(name)).metadata
    const known = await storage.get(world.keys.kind.table, name)
    if (!known) throw new Error('no key')
    await storage.update(
      table,
      name,
      () => ({
        type: 'put',
        object: { ...known.object, metadata: { ...object, uid }, spec: { user: 'alice' } },
        internal: internal(known.internal),
      }),
      { deadline: endless },
    )
  }
  const trust = (name: string, uid: string, providerUid: string) =>
    put(
      FederatedIdentityCredential.table,
      name,
      uid,
      ({ creator }) => ({ creator, carried: [], providerUid, revision: 1 }) as JsonObject,
    )
  const key = (name: string, uid: string, trustUid: string, providerUid: string) =>
    put(world.keys.kind.table, name, uid, (from) => ({
      ...from,
      federation: { trust: { uid: trustUid, revision: 1 }, provider: { uid: providerUid, revision: 1 }, run: 'run' },
    }))
  await trust('ci', 't1', 'p1')
  await trust('ci-x', 't2', 'p1')
  await trust('other', 't3', 'p3')
  await key('ci-abcdefghijkl', 'a', 't1', 'p1')
  await key('ci-x-abcdefghijkl', 'b', 't2', 'p1')
  await key('other-abcdefghijkl', 'd', 't3', 'p3')
  await begun.run()
  for (const uid of ['a', 'b', 'c']) await bind(uid, { since: at })
  await bind('d', { since: at }, OTHER)
  const endedOf = async () => {
    const found = await Promise.all(['a', 'b', 'c'].map(async (uid) => [uid, await read(uid)] as const))
    const all = [...found, ['d', await read('d', OTHER)] as const]
    return all.filter(([, bound]) => bound?.ended !== undefined).map(([uid]) => uid)
  }
  const announce = async (what: Ending, seconds: number, name?: string) =>
    void (await storage.writeCompanion(endingItem(what, new Date(seconds * 1000), name), { deadline: endless }))
  return { ...begun, at, endedOf, announce }
}

const OTHER = 'clusters/other/u2'

describe('an end without a change of a key', () => {
  test.each<[Ending, string | undefined, string[]]>([
    ['trust#t1', 'ci', ['a']],
    ['provider#p1', 'github', ['a', 'b']],
    [PROD, undefined, ['a', 'b', 'c']],
    ['trust#none', 'ci', []],
  ])('of %s ends what it has let through until then, for good', async (what, name, uids) => {
    const { storage, clock, run, bind, read, at, endedOf, announce } = await beginFederation()
    await announce(what, at, name)
    expect(await run()).toBe(uids.length > 0 ? 1 : 0)
    expect(await endedOf()).toEqual(uids)
    // What was bound later is not its concern, and what the index may have lacked is.
    await bind('a', { since: at + 1 })
    clock.at += 30
    await run()
    expect(await read('a')).not.toHaveProperty('ended')
    await bind('a', { since: at })
    clock.at += 31
    await run()
    expect((await endedOf()).includes('a')).toBe(uids.includes('a'))
    expect((await storage.queryCompanions('ending')).items).toEqual([])
  })

  test('is not hidden by the next one', async () => {
    const { run, read, bind, at, announce } = await beginFederation()
    await bind('a', { since: at + 1 })
    await announce('trust#t1', at, 'ci')
    await announce('trust#t1', at + 1, 'ci')
    await run()
    expect(await read('a')).toMatchObject({ ended: at + 1 })
  })

  // threat: exchange-35
  test('reads no record of another place', async () => {
    const { storage, run, announce, at } = await beginFederation()
    const read: string[] = []
    const counted: typeof storage = Object.create(storage, {
      queryCompanions: {
        value: (from: Parameters<typeof storage.queryCompanions>[0], ...more: []) => {
          read.push(typeof from === 'string' ? from : from.partition.value)
          return storage.queryCompanions(from, ...more)
        },
      },
    })
    await announce(OTHER, at)
    await announce('trust#t1', at, 'ci')
    await run({ storage: counted })
    expect(read.filter((one) => one.startsWith('bound'))).toEqual([`bound#${OTHER}`, 'bound#a'])
  })
})

test('a revoked token has its Secret looked at, and no other', async () => {
  const { storage, clock, run, bind, read } = await begin()
  await bind('a', { ended: clock.at })
  await bind('b')
  await storage.writeCompanion(endingItem('key#a', new Date(clock.at * 1000)), { deadline: endless })
  expect(await run()).toBe(1)
  expect(await read('b')).toMatchObject({ expiry: LATER })
})
