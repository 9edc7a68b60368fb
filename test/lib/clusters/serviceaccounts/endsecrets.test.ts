/** Tests when Secrets of ended keys are removed, and that nothing is forgotten whatever fails. */
import { describe, expect, test } from 'vitest'
import { type BoundSecrets, CLOCK_SECONDS, endSecrets } from '../../../../lib/clusters/serviceaccounts/endsecrets.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import {
  type Bound,
  boundItem,
  boundKey,
  endedIn,
  goneItem,
  livingIn,
  PLACES,
  placeItem,
  readBound,
} from '../../../../lib/keys/credential/boundsecrets.ts'
import { endless } from '../../../support/deadlines.ts'
import { played, soak } from '../../../support/effort.ts'
import { newWorld } from '../../engine/controllers/world.ts'

const start = Date.parse('2096-11-21T00:00:00Z') / 1000
const [PROD, TEST] = ['clusters/prod/u1', 'clusters/test/u2']

async function begin() {
  const world = await newWorld()
  const clock = { at: start }
  /** Secrets that exist, as `PLACE SECRET`. */
  const secrets = new Set<string>()
  const ended = new Set<string>()
  const dead = new Set<string>()
  const told: string[] = []
  const { storage } = world
  const work: BoundSecrets = {
    storage,
    now: () => new Date(clock.at * 1000),
    hasTime: () => true,
    deadline: endless,
    judge: async ({ uid }) => (ended.has(uid) ? 0 : Number.POSITIVE_INFINITY),
    async remove({ secret }, place) {
      if (dead.has(place)) throw Object.assign(new Error('away'), { failure: 'timeout' })
      secrets.delete(`${place} ${secret}`)
    },
    unconfirmed: async ({ uid }, place) => void told.push(`${uid} ${place}`),
  }
  async function make(uid: string, place = PROD, more: Partial<Bound> = {}): Promise<void> {
    const bound: Bound = {
      name: `key-${uid}`,
      uid,
      account: 'user.alice',
      namespace: 'keyplane',
      secret: `keyplane-${uid}`,
      secretRef: 'prod',
      server: 'https://prod.example',
      since: clock.at,
      until: clock.at + 86_400,
      ...more,
    }
    await storage.writeCompanion(placeItem(place, clock.at), { deadline: endless })
    const item = boundItem(boundKey(uid, place, '1'), bound, clock.at + 60)
    await storage.writeCompanion({ ...item, when: 'absent' }, { deadline: endless })
    secrets.add(`${place} ${bound.secret}`)
  }
  const read = async (uid: string, place = PROD) => {
    const item = await getCompanion(storage, boundKey(uid, place, '1'))
    return item && readBound(item)
  }
  return { storage, clock, secrets, ended, dead, told, work, make, read }
}

const nothing = { seen: 0, kept: 0, removed: 0, pending: 0, unconfirmed: 0, places: [], failed: 0, remaining: false }

describe('a Secret', () => {
  test('of a key that gives access is kept, and looked at again within five minutes', async () => {
    const { clock, secrets, work, make } = await begin()
    await make('a')
    expect(await endSecrets(work)).toEqual(nothing)
    clock.at += 60
    expect(await endSecrets(work)).toEqual({ ...nothing, seen: 1, kept: 1 })
    clock.at += 299
    expect(await endSecrets(work)).toEqual(nothing)
    clock.at += 1
    expect(await endSecrets(work)).toEqual({ ...nothing, seen: 1, kept: 1 })
    expect(secrets.size).toBe(1)
  })

  test('of a key that has ended is removed, and once more when no request can make it again', async () => {
    const { clock, secrets, ended, work, make, read } = await begin()
    await make('a')
    ended.add('a')
    clock.at += 60
    expect(await endSecrets(work)).toEqual({ ...nothing, seen: 1, pending: 1 })
    expect([...secrets]).toEqual([])
    // A request that was allowed before.
    secrets.add(`${PROD} keyplane-a`)
    clock.at += 29
    expect(await endSecrets(work)).toEqual(nothing)
    clock.at += 1
    expect(await endSecrets(work)).toEqual({ ...nothing, seen: 1, removed: 1 })
    expect([...secrets]).toEqual([])
    expect(await read('a')).toMatchObject({ gone: true })
    clock.at += 10_000
    expect(await endSecrets(work)).toEqual(nothing)
  })

  test('is removed when its time is over', async () => {
    const { clock, secrets, work, make } = await begin()
    await make('a', PROD, { until: start + 100 })
    clock.at += 99
    expect(await endSecrets(work)).toMatchObject({ kept: 1 })
    clock.at += 1
    expect(await endSecrets(work)).toMatchObject({ pending: 1 })
    expect(secrets.size).toBe(0)
  })

  test('of a key that works again stays ended', async () => {
    const { clock, ended, work, make, read } = await begin()
    await make('a')
    ended.add('a')
    clock.at += 60
    await endSecrets(work)
    ended.delete('a')
    clock.at += 30
    expect(await endSecrets(work)).toMatchObject({ removed: 1 })
    expect(await read('a')).toMatchObject({ gone: true, ended: start + 60 })
  })
})

describe('a cluster that is away', () => {
  // threat: exchange-32
  test('delays no other, is asked at most a few times in a run, and loses nothing', async () => {
    const { clock, secrets, ended, dead, told, work, make } = await begin()
    const uids = Array.from({ length: 100 }, (_, index) => `k${index}`)
    for (const uid of uids) {
      await make(uid, PROD)
      await make(uid, TEST)
      ended.add(uid)
    }
    dead.add(PROD)
    let asked = 0
    const counting: BoundSecrets = {
      ...work,
      remove: async (bound, place) => {
        if (place === PROD) asked++
        return work.remove(bound, place)
      },
    }
    clock.at += 60
    expect(await endSecrets(counting)).toMatchObject({ seen: 200, pending: 100, unconfirmed: 100, places: [PROD] })
    // What is ended is not looked at again while the cluster is away, however much it is.
    clock.at += 60
    expect((await endSecrets(counting)).seen).toBeLessThan(150)
    expect(asked).toBeLessThan(20)
    expect(told).not.toEqual([])
    for (let minutes = 0; minutes < 60; minutes++) {
      clock.at += 60
      await endSecrets(counting)
    }
    expect([...secrets].filter((one) => one.startsWith(TEST))).toEqual([])
    expect([...secrets].filter((one) => one.startsWith(PROD))).toHaveLength(100)
    dead.clear()
    clock.at += 60
    expect(await endSecrets(counting)).toMatchObject({ removed: 100, unconfirmed: 0 })
    expect([...secrets]).toEqual([])
  })

  test('is given up when its tokens have expired by every clock', async () => {
    const { clock, ended, dead, work, make, read } = await begin()
    await make('a', PROD, { until: start + 1000 })
    ended.add('a')
    dead.add(PROD)
    clock.at = start + 1000 + CLOCK_SECONDS
    expect(await endSecrets(work)).toMatchObject({ unconfirmed: 1 })
    expect(await read('a')).toMatchObject({ ended: clock.at, attempts: 1, failure: 'timeout' })
    clock.at += 60
    expect(await endSecrets(work)).toMatchObject({ removed: 1, unconfirmed: 0 })
  })
})

test('the end of a key costs the same however many records there are, and however many wait for a cluster that is away', async () => {
  const { storage, clock, secrets, ended, dead, work, make } = await begin()
  const each = Math.ceil((soak ? played(100_000) : 3000) / 3)
  const more = { until: start + 10 * 86_400 }
  const away = 'clusters/away/u3'
  for (let count = 0; count < each; count++) {
    await make(`t${count}`, TEST, more)
    await make(`p${count}`, PROD, more)
    await make(`a${count}`, away, { ...more, ended: start })
  }
  dead.add(away)
  // Those that live were judged lately.
  const later = async (place: string, letter: string) => {
    for (let count = 0; count < each; count++) {
      const item = await getCompanion(storage, boundKey(`${letter}${count}`, place, '1'))
      if (item) await storage.writeCompanion(boundItem(item, readBound(item), start + 86_400), { deadline: endless })
    }
  }
  await later(TEST, 't')
  await later(PROD, 'p')
  clock.at += 61
  ended.add('p7')
  const item = await getCompanion(storage, boundKey('p7', PROD, '1'))
  if (!item) throw new Error('no item')
  const over = boundItem(item, { ...readBound(item), ended: clock.at }, clock.at)
  await storage.writeCompanion(over, { deadline: endless })
  let calls = 0
  const counted = new Proxy(storage, {
    get(target, name) {
      calls++
      return Reflect.get(target, name)
    },
  })
  expect(await endSecrets({ ...work, storage: counted })).toMatchObject({ pending: 1, places: [away] })
  expect(secrets.has(`${PROD} keyplane-p7`)).toBe(false)
  expect(calls).toBeLessThan(40)
})

test('a place is known as long as there are records of it', async () => {
  const { storage, clock, work, make } = await begin()
  await make('a', PROD, { until: start + 30 * 86_400 })
  await storage.writeCompanion(placeItem(TEST, start), { deadline: endless })
  const known = async () =>
    (await storage.queryCompanions(PLACES)).items.map(({ sk, attributes }) => [sk, attributes.expires])
  const at = [PROD, TEST].map((place) => [place, placeItem(place, start).attributes.expires])
  clock.at += 3600
  await endSecrets(work)
  expect(await known()).toEqual(at)
  clock.at = start + 86_401
  await endSecrets(work)
  expect(await known()).toEqual([[PROD, placeItem(PROD, clock.at).attributes.expires], at[1]])
})

test('a run without time does nothing, and says that something remains', async () => {
  const { clock, secrets, ended, work, make } = await begin()
  await make('a')
  ended.add('a')
  clock.at += 60
  expect(await endSecrets({ ...work, hasTime: () => false })).toEqual({ ...nothing, remaining: true })
  expect(secrets.size).toBe(1)
})

describe('a run', () => {
  test('with nothing to do makes one call of the table, and two for each place', async () => {
    const { storage, work, make } = await begin()
    const calls: string[] = []
    const counted = new Proxy(storage, {
      get(target, name) {
        calls.push(String(name))
        return Reflect.get(target, name)
      },
    })
    await endSecrets({ ...work, storage: counted })
    expect(calls.splice(0)).toEqual(['queryCompanions'])
    await make('a')
    await endSecrets({ ...work, storage: counted })
    expect(calls).toEqual(['queryCompanions', 'queryCompanions', 'queryCompanions'])
  })

  test('does not undo what another one has written since it has read the item', async () => {
    const { storage, clock, secrets, work, make, read } = await begin()
    await make('a')
    clock.at += 60
    const judge: BoundSecrets['judge'] = async () => {
      const item = await getCompanion(storage, boundKey('a', PROD, '1'))
      if (!item) throw new Error('no item')
      const next = boundItem(item, { ...readBound(item), ended: clock.at }, clock.at)
      await storage.writeCompanion({ ...next, when: { is: item } }, { deadline: endless })
      return Number.POSITIVE_INFINITY
    }
    expect(await endSecrets({ ...work, judge })).toMatchObject({ kept: 0, failed: 0 })
    expect(await read('a')).toMatchObject({ ended: clock.at, expiry: clock.at })
    expect(await endSecrets(work)).toMatchObject({ pending: 1 })
    expect(secrets.size).toBe(0)
  })

  // threat: exchange-31
  test('that is interrupted anywhere is completed by the next ones', async () => {
    for (let calls = 0; calls < 12; calls++) {
      const { storage, clock, secrets, ended, work, make } = await begin()
      await make('a')
      ended.add('a')
      let left = calls
      const step = () => {
        if (left-- <= 0) throw new Error('killed')
      }
      const killed: BoundSecrets = {
        ...work,
        storage: {
          ...storage,
          async writeCompanion(...given) {
            step()
            const written = await storage.writeCompanion(...given)
            step()
            return written
          },
        },
        async remove(...given) {
          step()
          await work.remove(...given)
          step()
        },
      }
      for (const seconds of [60, 30, 30, 30]) {
        clock.at += seconds
        await endSecrets(killed)
        left = calls
      }
      for (let more = 0; more < 5; more++) {
        clock.at += 60
        await endSecrets(work)
      }
      expect([calls, ...secrets]).toEqual([calls])
    }
  })

  test('reports an item that it cannot read, and looks at the others', async () => {
    const { storage, clock, ended, work, make } = await begin()
    await make('a')
    await make('b')
    ended.add('b')
    const damaged = { expiryIndex: endedIn(PROD), expiry: start }
    await storage.writeCompanion({ ...boundKey('a', PROD, '1'), attributes: damaged }, { deadline: endless })
    clock.at += 60
    const done = await endSecrets(work)
    expect(done).toMatchObject({ seen: 1, pending: 1, failed: 1 })
    expect(String(done.error)).toContain('a bound Secret lacks')
  })

  test('ignores what is gone', async () => {
    const { storage, clock, work, make, read } = await begin()
    await make('a')
    const bound = await read('a')
    if (!bound) throw new Error('no item')
    const item = goneItem(boundKey('a', PROD, '1'), bound, start)
    const attributes = { ...item.attributes, expiryIndex: livingIn(PROD), expiry: start }
    await storage.writeCompanion({ ...item, attributes }, { deadline: endless })
    clock.at += 60
    expect(await endSecrets(work)).toEqual(nothing)
  })
})
