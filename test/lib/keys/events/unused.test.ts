/** Tests the end of keys that nobody uses: when it comes, whom it spares, what is told of it, and that it is final. */
import { describe, expect, test } from 'vitest'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { readCredential } from '../../../../lib/keys/credential/credential.ts'
import { decodeKeyInternal, encodeKeyInternal, type KeyInternal } from '../../../../lib/keys/credential/keyinternal.ts'
import { keyStatus, lifeOfStored } from '../../../../lib/keys/credential/keystatus.ts'
import type { Lifecycle } from '../../../../lib/keys/events/lifecycle.ts'
import { sweepExpired } from '../../../../lib/keys/expirysweep.ts'
import { usageItem } from '../../../../lib/keys/usage/items.ts'
import { endless, unhurried } from '../../../support/deadlines.ts'
import { newWorld } from '../../engine/controllers/world.ts'
import { publisherOf } from './publisher.ts'

const day = 86_400
const start = Date.parse('2026-11-21T12:00:00Z') / 1000
/** A use may be recorded a minute late. */
const late = 60

/** A deployment whose setting says `idle`, and whose lifecycle runs when the test says so. */
async function begin(idle = 30 * day) {
  const clock = { at: start }
  const now = () => clock.at * 1000
  const world = await newWorld({ now: () => new Date(now()), tableNow: now })
  const publisher = publisherOf(world)
  const { table } = world.keys.kind
  const stored = async (name: string) => {
    const found = await world.storage.get(table, name)
    if (!found) throw new Error(`there is no ${name}`)
    return found
  }
  const scene = {
    clock,
    world,
    publisher,
    stored,
    idle,
    /** Runs with the setting, and returns what was found. */
    run: async (parts: Partial<Lifecycle> = {}) =>
      (await publisher.run({ maxIdleSeconds: scene.idle, isNew: true, ...parts })).unused,
    /** Lets so many days pass, with a run after each. */
    async pass(days: number) {
      for (let count = 0; count < days; count++) {
        clock.at += day
        await world.storage.sweep(table)
        await scene.run()
        // It tells of what the run before it has written.
        await scene.run()
      }
    },
    async use(name: string, at = clock.at) {
      const { pk, sk } = await world.credential(name)
      const { uid = '' } = (await stored(name)).object.metadata
      const credential = { pk, sk, lastActivity: at, attributes: {}, same: {} }
      await world.storage.touchActivity({ table, key: name, uid, at: at * 1000, credential })
    },
    phase: async (name: string) => keyStatus(lifeOfStored(await stored(name)), clock.at).state,
    phases: (...names: string[]) => Promise.all(names.map((name) => scene.phase(name))),
    /** The events so far about the end of keys. */
    told: () =>
      publisher.events
        .filter(({ type }) => /\.(expiring|expired|revoked)\./.test(type))
        .map(({ type, data }) => [type.split('.').at(-2), data.name, data.how, data.days ?? data.phase]),
    /** Changes the internal part of a key. */
    edit: (name: string, edit: (internal: KeyInternal) => KeyInternal) =>
      world.storage.update(
        table,
        name,
        (live) => ({
          type: 'put',
          object: live?.object ?? { apiVersion: '', kind: '', metadata: {} },
          internal: encodeKeyInternal(edit(decodeKeyInternal(live?.internal ?? {}))),
        }),
        unhurried,
      ),
  }
  return scene
}

describe('a key that nobody uses', () => {
  // threat: use-18
  test('ends when the time since its last use is over, not a second earlier', async () => {
    const { clock, world, run, use, phases } = await begin()
    await run()
    for (const name of ['never', 'used']) await world.make(name)
    clock.at += 5 * day
    await use('used')
    clock.at = start + 30 * day - 1
    await run()
    expect(await phases('never', 'used')).toEqual(['Active', 'Active'])
    clock.at = start + 31 * day
    expect(await run()).toMatchObject({ keys: 1, ended: 1, isWhole: true })
    expect(await phases('never', 'used')).toEqual(['Unused', 'Active'])
    clock.at = start + 35 * day + late - 1
    await run()
    expect(await phases('used')).toEqual(['Active'])
    clock.at += day
    await run()
    expect(await phases('used')).toEqual(['Unused'])
  })

  test('ends with its credential, at once disabled for releases that do not know the cause', async () => {
    const { clock, world, run, stored, pass, publisher } = await begin(7 * day)
    await world.make('ci')
    // Its credential would not be written for a change of the spec.
    await world.make('off', {}, { disabled: true })
    await run()
    await pass(7)
    for (const name of ['ci', 'off']) {
      expect(readCredential((await world.credential(name)).attributes)).toMatchObject({
        disabled: true,
        endedUnused: clock.at,
      })
      const { object, internal } = await stored(name)
      expect([object.spec?.disabled, decodeKeyInternal(internal).endedUnused]).toEqual([true, clock.at])
    }
    expect(publisher.events.at(-1)?.data).toMatchObject({
      how: 'Unused',
      phase: 'Unused',
      actor: { user: 'system:controller:lifecycle' },
    })
  })

  test('is told of before, and when it ends, and not again', async () => {
    const { world, run, pass, told } = await begin(60 * day)
    await run()
    await world.make('ci')
    // Nobody is told of what people have ended, and of a key that expires before.
    await world.make('off', {}, { disabled: true })
    await world.make('short', {}, { ttl: 59 * day })
    await pass(63)
    expect(told().filter(([, name]) => name === 'ci')).toEqual([
      ['expiring', 'ci', 'Unused', 14],
      ['expiring', 'ci', 'Unused', 7],
      ['expiring', 'ci', 'Unused', 1],
      ['revoked', 'ci', 'Unused', 'Unused'],
    ])
    expect(told().filter(([, name]) => name === 'off')).toEqual([['revoked', 'off', 'Unused', 'Unused']])
    expect(told().filter(([, name, how]) => name === 'short' && how === 'Unused')).toEqual([])
  })

  test('is told of with the time of its end', async () => {
    const { world, run, pass, publisher } = await begin(7 * day)
    await run()
    await world.make('ci')
    await pass(6)
    expect(publisher.events.at(-1)?.data).toMatchObject({ days: 1, expirationTimestamp: '2026-11-28T12:00:00Z' })
  })

  test('does not end when it was used, whatever was told', async () => {
    const { world, run, pass, use, told, phases } = await begin(7 * day)
    await run()
    await world.make('ci')
    await pass(6)
    await use('ci')
    await pass(6)
    expect(told()).toEqual([['expiring', 'ci', 'Unused', 1]])
    expect(await phases('ci')).toEqual(['Active'])
  })

  test('does not end when it is used at the last moment', async () => {
    const { clock, world, run, use, phases } = await begin(7 * day)
    await run()
    for (const name of ['ci', 'other']) await world.make(name)
    clock.at += 8 * day
    const { uid } = (await world.find('ci'))?.metadata ?? {}
    // It has been listed, and its usage is read next.
    const queryCompanions: Storage['queryCompanions'] = async (from, query) => {
      if (from === `usage#${uid}`) await use('ci')
      return world.storage.queryCompanions(from, query)
    }
    expect(await run({ storage: { ...world.storage, queryCompanions } })).toMatchObject({ ended: 1 })
    expect(await phases('ci', 'other')).toEqual(['Active', 'Unused'])
  })

  test('does not end while clusters ask about its tokens, and a refused request is no use', async () => {
    const { clock, world, run, phases, stored } = await begin(7 * day)
    await run()
    for (const name of ['asked', 'refused']) await world.make(name)
    const uidOf = async (name: string) => (await stored(name)).object.metadata.uid ?? ''
    const entry = {
      attributes: { kind: 'nonresource', target: { type: 'Management' }, verb: 'get', path: '/x' },
    } as const
    const asked = { asked: { type: 'cluster', name: 'eu' } } as const
    clock.at += 3 * day
    await world.storage.writeCompanion(usageItem(await uidOf('asked'), asked, clock.at), unhurried)
    await world.storage.writeCompanion(usageItem(await uidOf('refused'), { refused: entry }, clock.at), unhurried)
    // It was used on the 24th, at a time that nobody knows.
    clock.at = Date.parse('2026-12-01T23:59:59Z') / 1000
    await run()
    expect(await phases('asked', 'refused')).toEqual(['Active', 'Unused'])
    clock.at = Date.parse('2026-12-03T00:00:00Z') / 1000
    await run()
    expect(await phases('asked')).toEqual(['Unused'])
  })

  test('does not end while its status says a use, unless that is in the future', async () => {
    const { clock, world, run, phases } = await begin(7 * day)
    await run()
    const said = (at: string) => (object: object) => ({ ...object, status: { lastActivity: at } }) as never
    for (const name of ['past', 'future']) await world.make(name)
    for (const [name, at] of [
      ['past', '2026-11-24T12:00:00Z'],
      ['future', '2030-01-01T00:00:00Z'],
    ] as const)
      await world.storage.update(
        world.keys.kind.table,
        name,
        (live) => ({ type: 'put', object: said(at)(live?.object ?? {}), internal: live?.internal ?? {} }),
        unhurried,
      )
    clock.at += 8 * day
    await run()
    expect(await phases('past', 'future')).toEqual(['Active', 'Unused'])
  })
})

describe('these keys do not end:', () => {
  const endless = async (spec: object, edit?: (internal: KeyInternal) => KeyInternal) => {
    const { world, run, pass, edit: change, phases, told } = await begin(7 * day)
    await run()
    await world.make('ci', {}, spec as never)
    if (edit) await change('ci', edit)
    await pass(9)
    return [(await phases('ci'))[0], told()]
  }
  const reviews = { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] }

  // threat: use-20
  test('that of a cluster that asks for reviews, and those of administrators without a scope', async () => {
    const right = (internal: KeyInternal) => ({ ...internal, reviewScope: reviews as never })
    expect(await endless({ scope: reviews }, right)).toEqual(['Active', []])
    expect(await endless({ groups: ['system:masters'] })).toEqual(['Active', []])
  })

  test('others do, with the role and without the right, and with a scope', async () => {
    expect((await endless({ scope: reviews }, ({ reviewScope: _, ...rest }) => rest))[0]).toBe('Unused')
    expect((await endless({ groups: ['system:masters'], scope: { clusters: [{ cluster: 'eu' }] } }))[0]).toBe('Unused')
    const carried = [{ clusters: [{ cluster: 'eu' }] }]
    expect((await endless({ groups: ['system:masters'] }, (internal) => ({ ...internal, carried })))[0]).toBe('Unused')
  })

  test('those of exchanges, which end on their own', async () => {
    const federation = { trust: { uid: 't', revision: 1 }, provider: { uid: 'p', revision: 1 } }
    expect(await endless({}, (internal) => ({ ...internal, federation }))).toEqual(['Active', []])
  })
})

describe('the end is final:', () => {
  // threat: use-19
  test('not a use, not a longer time, not another setting, and not a change of the key revives it', async () => {
    const scene = await begin(7 * day)
    const { world, run, pass, use, phases } = scene
    await run()
    await world.make('ci', {}, { ttl: 1000 * day })
    await pass(7)
    await use('ci')
    for (const idle of [3650 * day, 0, 7 * day]) {
      scene.idle = idle
      await run()
      expect(await phases('ci')).toEqual(['Unused'])
    }
    const enable = (spec: object) => world.change('ci', (object) => ({ ...object, spec: { ...object.spec, ...spec } }))
    await expect(enable({ disabled: false })).rejects.toThrow(
      'spec.disabled: Forbidden: nobody used the access key for too long, so it has ended for good: make another one',
    )
    await enable({ displayName: 'CI', ttl: 2000 * day })
    expect(await phases('ci')).toEqual(['Unused'])
  })

  test('also if a release that does not know it has enabled the key, which may still be changed', async () => {
    const { world, run, pass, stored, phases } = await begin(7 * day)
    await run()
    await world.make('ci')
    await pass(7)
    await world.storage.update(
      world.keys.kind.table,
      'ci',
      (live) => ({
        type: 'put',
        object: { ...(live?.object as never as { spec: object }), spec: { disabled: false } } as never,
        internal: live?.internal ?? {},
      }),
      unhurried,
    )
    expect(await phases('ci')).toEqual(['Unused'])
    await world.changeMeta('ci', { labels: { a: 'b' } })
    expect((await stored('ci')).object.metadata.labels).toEqual({ a: 'b' })
    expect(await phases('ci')).toEqual(['Unused'])
  })

  test('and the sweep deletes the key like one that has expired', async () => {
    const { clock, world, run, pass } = await begin(7 * day)
    await run()
    await world.make('ci')
    await pass(7)
    const sweep = () =>
      sweepExpired({
        store: world.keys,
        storage: world.storage,
        now: world.now,
        retentionSeconds: { exchanged: day, others: 7 * day },
        limits: {},
        hasTime: () => true,
        deadline: endless,
        maxDeletions: 10,
      })
    clock.at += 7 * day - 1
    expect(await sweep()).toMatchObject({ deleted: 0 })
    clock.at += 1
    expect(await sweep()).toMatchObject({ deleted: 1 })
  })
})

describe('the setting', () => {
  // threat: use-20
  test('counts from when it was made, and says how many keys it ends', async () => {
    const { clock, world, run, phases } = await begin()
    for (const name of ['old', 'new']) await world.make(name)
    clock.at += 100 * day
    await world.make('newest')
    expect(await run()).toEqual({ keys: 2, ended: 0, from: clock.at + 30 * day, isWhole: true })
    expect(await phases('old', 'new')).toEqual(['Active', 'Active'])
    clock.at += 30 * day
    expect(await run()).toMatchObject({ keys: 3, ended: 3 })
  })

  test('counts anew when it is shortened, or removed and made again, and not when it is raised', async () => {
    const scene = await begin(100 * day)
    const { clock, world, run, phases } = scene
    await run()
    await world.make('ci')
    clock.at += 99 * day
    scene.idle = 7 * day
    await run()
    clock.at += 7 * day - 1
    await run()
    expect(await phases('ci')).toEqual(['Active'])
    scene.idle = 0
    await run()
    expect(await getCompanion(world.storage, { pk: 'unused', sk: '#' })).toBeUndefined()
    clock.at += day
    scene.idle = 7 * day
    await run()
    expect(await phases('ci')).toEqual(['Active'])
    // Longer, but the time of the first setting is over.
    scene.idle = 8 * day
    clock.at += 8 * day
    await run()
    expect(await phases('ci')).toEqual(['Unused'])
  })

  test('counts from now on if a clock was ahead', async () => {
    const { clock, world, run, phases } = await begin(7 * day)
    clock.at += 1000 * day
    await run()
    clock.at = start
    await world.make('ci')
    await run()
    clock.at += 7 * day
    await run()
    expect(await phases('ci')).toEqual(['Unused'])
  })

  test('has keys looked at once a day, by runs that are due', async () => {
    const { clock, world, run, publisher } = await begin(7 * day)
    await world.make('ci')
    expect(await run()).toBeDefined()
    const hourly = async (hours: number) => {
      clock.at += hours * 3600
      return (await publisher.run({ maxIdleSeconds: 7 * day })).unused
    }
    expect(await hourly(23)).toBeUndefined()
    expect(await run()).toBeUndefined()
    expect(await hourly(2)).toBeDefined()
    expect(await hourly(2)).toBeUndefined()
  })
})

test('a pass that runs out of time goes on with the next run', async () => {
  const { clock, world, run, phases } = await begin(7 * day)
  await run()
  for (const name of ['a', 'b', 'c']) await world.make(name)
  clock.at += 8 * day
  /** Has time for one key. */
  const one = (): Partial<Lifecycle> => {
    let hasTime = true
    const list: Storage['list'] = (table, request) => {
      hasTime = false
      return world.storage.list(table, { ...request, limit: 1 })
    }
    return { storage: { ...world.storage, list }, hasTime: () => hasTime }
  }
  expect(await run(one())).toMatchObject({ keys: 1, ended: 1, isWhole: false })
  expect(await phases('a', 'b', 'c')).toEqual(['Unused', 'Active', 'Active'])
  expect(await run(one())).toMatchObject({ keys: 2, ended: 1, isWhole: false })
  expect(await run()).toMatchObject({ keys: 3, ended: 1, isWhole: true })
  expect(await run()).toBeUndefined()
})

test('a key that cannot be judged keeps no other one from its end, and is judged again', async () => {
  const { clock, world, run, phases } = await begin(7 * day)
  await run()
  for (const name of ['a', 'b']) await world.make(name)
  clock.at += 8 * day
  const over = world.over({
    ...world.storage,
    update: (table, key, ...rest) =>
      key === 'a' ? Promise.reject(new Error('no')) : world.storage.update(table, key, ...rest),
  })
  await expect(run({ store: over.keys })).rejects.toThrow('no')
  expect(await phases('a', 'b')).toEqual(['Active', 'Unused'])
  expect(await run()).toMatchObject({ keys: 1, ended: 1 })
})
