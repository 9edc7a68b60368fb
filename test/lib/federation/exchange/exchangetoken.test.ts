/** Tests the keys of exchanges that answer a token of one cluster: how long they live, and that what was ended stays ended. */
import { beforeEach, describe, expect, test } from 'vitest'
import { managementRequest } from '../../../../lib/access/attributes/attributes.ts'
import { alreadyExists } from '../../../../lib/engine/meta/errors/status.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { deleteObject } from '../../../../lib/engine/registry/delete.ts'
import { StorageError } from '../../../../lib/engine/storage/errors.ts'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import type { IssuedToken, OpenTarget } from '../../../../lib/federation/exchange/clustertoken.ts'
import type { Exchanged } from '../../../../lib/federation/exchange/exchangedkey.ts'
import type { ExchangeServer } from '../../../../lib/federation/exchange/exchangeserver.ts'
import { exchangeForToken } from '../../../../lib/federation/exchange/exchangetoken.ts'
import { keptUntil, replayRecord } from '../../../../lib/federation/exchange/replay.ts'
import { createSignatureLimit } from '../../../../lib/federation/exchange/signaturelimit.ts'
import { checkTimes, replayId } from '../../../../lib/federation/idtoken.ts'
import type { TokenUse } from '../../../../lib/federation/issuers.ts'
import type { OAuthCall } from '../../../../lib/federation/oauth/call.ts'
import { OAuthError, unavailable } from '../../../../lib/federation/oauth/oautherror.ts'
import { gateKeys } from '../../../../lib/keys/credential/gates.ts'
import { endedTarget } from '../../../../lib/keys/credential/targetkeys.ts'
import { KINDS } from '../../../../lib/kinds.ts'
import { endless } from '../../../support/deadlines.ts'
import { setGate } from '../../../support/exchangedkeys.ts'
import { admin, contextOf } from '../../../support/users.ts'
import { newWorld, type World } from '../../engine/controllers/world.ts'
import { HOUR, issued, newExchanged } from './fixtures.ts'

const place = 'clusters/prod'

let world: World
let exchanged: Exchanged
/** What happens after the next read of what an exchange needs to know. */
let afterRead: () => Promise<unknown>
/** For how many seconds tokens were asked for. */
let asked: number[]
let signed: number
/** How many uses were recorded. */
let used: number
let logged: unknown[]
/** How many keys were announced. */
let announced: number

beforeEach(async () => {
  world = await newWorld()
  exchanged = await newExchanged(world)
  afterRead = async () => undefined
  asked = []
  signed = 0
  used = 0
  announced = 0
  logged = []
})

interface Conditions {
  use?: TokenUse
  /** Seconds since the ID token was issued. */
  after?: number
  isLate?: boolean
  /** The clusters that issue their tokens, if not all do. */
  late?: string[]
  isDryRun?: boolean
  scopeText?: string
  cluster?: string
  /** Other clusters, in this order. */
  clusters?: string[]
  /** Fails the check of a target. */
  unusable?: string
  leastSeconds?: number
  /** The longest life of tokens and of keys in the deployment, in seconds. */
  most?: number
  maxTtl?: number
  /** Instead of the write. */
  update?: Storage['update']
  /** Makes the token, instead of one that always is. */
  act?: (cluster: string) => Promise<IssuedToken>
}

/** Exchanges the ID token. */
function exchange(conditions: Conditions = {}) {
  const { use = 'Lifetime', after = 0, isLate = false, isDryRun = false, leastSeconds = 0 } = conditions
  const { cluster = 'prod', clusters = [cluster], unusable, scopeText } = conditions
  const { most = 30 * 24 * HOUR, maxTtl, update = world.storage.update, act = sign } = conditions
  const { late = isLate ? clusters : [] } = conditions
  const storage: Storage = {
    ...world.storage,
    update,
    async getCompanions(keys) {
      const found = await world.storage.getCompanions(keys)
      const happens = afterRead
      afterRead = async () => undefined
      await happens()
      return found
    },
  }
  const { keys } = world.over(storage)
  const server = {
    storage,
    storeOf: () => keys,
    config: { maxTokenTtlSeconds: most },
    limits: { ...(maxTtl !== undefined && { maxTtl }) },
    signatures: createSignatureLimit(),
    usage: { used: async () => void used++ },
    log: (...line: unknown[]) => void logged.push(line),
  } as unknown as ExchangeServer
  const now = new Date((issued + after) * 1000)
  const call: OAuthCall = {
    requestId: 'r',
    headers: {},
    form: new Map(),
    now,
    deadline: endless,
    note: () => undefined,
  }
  const targets = clusters.map(
    (name): OpenTarget => ({
      place: { type: 'cluster', name },
      request: managementRequest(KINDS.DirectClusterEndpointToken, { verb: 'create' }),
      isLate: late.includes(name),
      leastSeconds,
      async check() {
        if (name === unusable) throw new OAuthError('invalid_target', 'target', 'one of these targets')
      },
      async prepare(_, seconds) {
        asked.push(seconds)
        return () => act(name)
      },
    }),
  )
  return exchangeForToken(server, call, exchanged, {
    use,
    isDryRun,
    targets,
    ...(scopeText !== undefined && { scopeText }),
    announce: () => void announced++,
  })
}

/** Changes what the next exchange grants. */
function change(more: Partial<Exchanged>): undefined {
  exchanged = { ...exchanged, ...more }
}

const sign = async (): Promise<IssuedToken> => ({ token: `token ${++signed}`, warnings: [] })

const namesOfKeys = async () => (await world.storage.list(world.keys.kind.table, {})).items.map(({ key }) => key)
const countKeys = async () => (await namesOfKeys()).length
const ended = () => endedTarget(exchanged.trust.uid, { token: replayId(exchanged.token), place })
const readEnded = () => getCompanion(world.storage, ended())

/** Ends the target of the ID token, as the end of a key of another scope does. */
const end = () =>
  world.storage.writeCompanion({ ...ended(), attributes: { expires: issued + 9 * HOUR } }, { deadline: endless })

describe('a key', () => {
  test.each(['Once', 'Lifetime'] as const)('lives for an hour at most, whatever the trust says (%s)', async (use) => {
    exchanged = { ...exchanged, grant: { ttl: 24 * HOUR, carried: [] } }
    const { expires, name } = await exchange({ use })
    expect([expires, asked]).toEqual([issued + HOUR, [HOUR]])
    expect((await world.find(name))?.spec).toMatchObject({ ttl: HOUR })
  })

  test.each([
    { ttl: 600, most: 24 * HOUR, lives: 600 },
    { ttl: 24 * HOUR, most: 1200, lives: 1200 },
  ])('lives for less if the trust has $ttl seconds and the deployment $most', async ({ ttl, most, lives }) => {
    exchanged = { ...exchanged, grant: { ttl, carried: [] } }
    expect((await exchange({ most })).expires).toBe(issued + lives)
  })

  test('that serves again keeps its end, to which the token is shortened', async () => {
    const first = await exchange()
    expect(await exchange({ after: 600 })).toMatchObject({ uid: first.uid, expires: first.expires })
    expect(asked).toEqual([HOUR, HOUR - 600])
  })
})

describe('a key of an ID token that is exchanged during its life', () => {
  test('serves until half of its life is over', async () => {
    const { uid } = await exchange()
    expect((await exchange({ after: HOUR / 2 })).uid).toBe(uid)
    expect((await exchange({ after: HOUR / 2 + 1 })).uid).not.toBe(uid)
  })

  test.each<[string, () => Conditions | undefined]>([
    ['target', () => ({ cluster: 'staging' })],
    ['scope as it was sent', () => ({ scopeText: 'cluster:prod' })],
    ['ID token', () => change({ token: { ...exchanged.token, signingInput: 'other' } })],
    ['revision of the trust', () => change({ trust: { ...exchanged.trust, revision: 2 } })],
    ['revision of the provider', () => change({ provider: { ...exchanged.provider, revision: 2 } })],
    ['person', () => change({ mapped: { user: 'company:mona', groups: ['staff'] } })],
    ['life', () => change({ grant: { ...exchanged.grant, ttl: 1800 } })],
  ])('serves no exchange with another %s', async (_what, other) => {
    const { uid } = await exchange()
    const conditions = other() ?? {}
    const { trust, provider } = exchanged
    for (const [kind, { revision }] of [
      ['trust', trust],
      ['provider', provider],
    ] as const)
      await setGate(world, { trust, provider, run: 'run' }, kind, { revision })
    expect((await exchange(conditions)).uid).not.toBe(uid)
  })

  test('serves as long as it outlives the shortest token of the target', async () => {
    const { uid } = await exchange({ leastSeconds: 3000 })
    expect((await exchange({ leastSeconds: 3000, after: 600 })).uid).toBe(uid)
    expect((await exchange({ leastSeconds: 3000, after: 601 })).uid).not.toBe(uid)
  })

  test('has no successor if the deployment has ended it by a shorter maximum', async () => {
    await exchange()
    await expect(exchange({ after: 120, maxTtl: 60 })).rejects.toMatchObject({ reason: 'ended' })
  })

  test('stays if its cluster fails, and serves the next attempt', async () => {
    await expect(exchange({ isLate: true, act: () => Promise.reject(new Error('away')) })).rejects.toThrow('away')
    const names = await namesOfKeys()
    expect([names, logged]).toEqual([[expect.any(String)], []])
    expect([(await exchange({ isLate: true })).name, ...(await namesOfKeys())]).toEqual([...names, ...names])
  })
})

describe('several targets', () => {
  const clusters = ['us', 'eu', 'asia']
  const endOf = (cluster: string) =>
    endedTarget(exchanged.trust.uid, { token: replayId(exchanged.token), place: `clusters/${cluster}` })

  test('have one key in any order, and another than fewer of them', async () => {
    const { uid } = await exchange({ clusters })
    expect((await exchange({ clusters: clusters.toReversed() })).uid).toBe(uid)
    for (const fewer of [['us'], ['us', 'eu']]) expect((await exchange({ clusters: fewer })).uid).not.toBe(uid)
    expect(await countKeys()).toBe(3)
  })

  // threat: exchange-59
  test.each(['Once', 'Lifetime'] as const)(
    'of which one may not be used get nothing, and write nothing (%s)',
    async (use) => {
      for (const isDryRun of [false, true])
        await expect(exchange({ use, clusters, unusable: 'eu', isDryRun })).rejects.toMatchObject({ reason: 'target' })
      expect([await countKeys(), signed, asked]).toEqual([0, 0, []])
      await exchange({ use, clusters })
    },
  )

  test('of which one cannot be signed use up no ID token', async () => {
    const act = (cluster: string) => (cluster === 'asia' ? Promise.reject(new Error('no signature')) : sign())
    await expect(exchange({ use: 'Once', clusters, act })).rejects.toThrow('no signature')
    expect(await countKeys()).toBe(0)
    await exchange({ use: 'Once', clusters })
  })

  test('are signed before the key is written, and issued by clusters afterwards', async () => {
    const keysAt: Record<string, number> = {}
    const act = async (cluster: string) => {
      keysAt[cluster] = await countKeys()
      return sign()
    }
    await exchange({ clusters, late: ['eu'], act })
    expect(keysAt).toEqual({ us: 0, asia: 0, eu: 1 })
  })

  // threat: exchange-60
  test.each(clusters)(
    'of which %s was ended get nothing, not even if it ends just before the write',
    async (cluster) => {
      const write = () =>
        world.storage.writeCompanion(
          { ...endOf(cluster), attributes: { expires: issued + 9 * HOUR } },
          { deadline: endless },
        )
      afterRead = write
      await expect(exchange({ clusters })).rejects.toMatchObject({ reason: 'ended' })
      await expect(exchange({ clusters })).rejects.toMatchObject({ reason: 'ended' })
      expect(await countKeys()).toBe(0)
      await exchange({ clusters: clusters.filter((one) => one !== cluster) })
    },
  )

  test('of an ended key are all ended', async () => {
    const { name } = await exchange({ clusters })
    await deleteObject(world.keys, { namespace: '', name }, {}, contextOf(admin))
    const ends = await world.storage.getCompanions(clusters.map(endOf))
    expect(ends.map((end) => end?.attributes.expires)).toEqual(clusters.map(() => keptUntil(exchanged.token)))
  })

  test('of which a cluster fails give the ID token back once all have answered', async () => {
    const answered: string[] = []
    const act = async (cluster: string) => {
      answered.push(cluster)
      if (cluster === 'us') throw unavailable('cluster', 'us is away')
      return sign()
    }
    await expect(exchange({ use: 'Once', clusters, isLate: true, act })).rejects.toThrow('us is away')
    expect([answered, await countKeys()]).toEqual([clusters, 0])
    await exchange({ use: 'Once', clusters })
  })

  test('more than five of which are issued by clusters are refused', async () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f']
    await expect(exchange({ clusters: many, isLate: true })).rejects.toThrow('more than 5')
    expect([await countKeys(), asked]).toEqual([0, []])
    await exchange({ clusters: many, late: many.slice(1) })
  })
})

test('the key of an ID token that is exchanged once goes if its cluster fails, and the ID token is good for another attempt', async () => {
  const late = { use: 'Once', isLate: true } as const
  await expect(exchange({ ...late, act: fails() })).rejects.toThrow('away')
  expect([await countKeys(), await readEnded()]).toEqual([0, undefined])
  await exchange(late)
  expect(await countKeys()).toBe(1)
  await expect(exchange(late)).rejects.toMatchObject({ reason: 'replayed' })
})

/** Fails as the cluster does, after something else has happened. */
const fails =
  (before: () => Promise<unknown> = async () => undefined) =>
  async (): Promise<never> => {
    await before()
    throw unavailable('cluster', 'the cluster is away')
  }

test.each(['trust', 'provider'] as const)(
  'an equal exchange gives nothing after its %s was closed, although it is open again',
  async (kind) => {
    await exchange()
    await setGate(world, { ...exchanged, run: 'run' }, kind, { ended: issued } as object)
    await expect(exchange()).rejects.toMatchObject({ reason: 'ended' })
    expect(signed).toBe(1)
  },
)

describe('an ID token is not given back', () => {
  const late = { use: 'Once', isLate: true } as const
  const isUsed = () => expect(exchange(late)).rejects.toMatchObject({ reason: 'replayed' })
  const { trust, provider } = { trust: 'trust', provider: 'provider' } as const

  test('for a failure that is not the cluster’s', async () => {
    await expect(exchange({ ...late, act: () => Promise.reject(new Error('a bug')) })).rejects.toThrow('a bug')
    expect(await countKeys()).toBe(1)
    await isUsed()
  })

  test.each([trust, provider])('if its %s was closed meanwhile', async (kind) => {
    const close = () => setGate(world, { ...exchanged, run: 'run' }, kind, { disabled: true })
    await expect(exchange({ ...late, act: fails(close) })).rejects.toThrow('away')
    await setGate(world, { ...exchanged, run: 'run' }, kind)
    await isUsed()
  })

  test('if its key was disabled meanwhile, although it is enabled again', async () => {
    const disable = async () => {
      const [name = ''] = await namesOfKeys()
      for (const disabled of [true, false])
        await world.change(name, (object) => ({ ...object, spec: { ...object.spec, disabled } }))
    }
    await expect(exchange({ ...late, act: fails(disable) })).rejects.toThrow('away')
    expect(await readEnded()).toBeDefined()
    await isUsed()
  })

  test('if its key is disabled', async () => {
    const disable = async () => {
      const [name = ''] = await namesOfKeys()
      await world.change(name, (object) => ({ ...object, spec: { ...object.spec, disabled: true } }))
    }
    await expect(exchange({ ...late, act: fails(disable) })).rejects.toThrow('away')
    expect([await countKeys(), logged]).toEqual([1, []])
    await isUsed()
  })

  test('more than three times', async () => {
    for (let times = 0; times < 4; times++) await expect(exchange({ ...late, act: fails() })).rejects.toThrow('away')
    expect(await countKeys()).toBe(0)
    await isUsed()
  })
})

test.each([
  { isLate: false, stored: 0 },
  { isLate: true, stored: 1 },
])('a token is made while there are $stored keys of it (late: $isLate)', async ({ isLate, stored }) => {
  const counts: number[] = []
  const act = async () => {
    counts.push(await countKeys())
    return sign()
  }
  expect((await exchange({ isLate, act })).issued).toMatchObject({ text: 'token 1' })
  expect([counts, used]).toEqual([[stored], 1])
})

test.each([false, true])('a dry run makes no token and no key, and records no use (late: %s)', async (isLate) => {
  const { issued: token, expires } = await exchange({ isLate, isDryRun: true })
  expect([token, expires, asked, signed, used, await countKeys()]).toEqual([undefined, issued + HOUR, [HOUR], 0, 0, 0])
  expect(announced).toBe(0)
  await exchange()
  const again = await exchange({ isLate, isDryRun: true })
  expect([again.issued, signed]).toEqual([undefined, 1])
})

test('a write that is composed again after a conflict signs no second token, and announces one key', async () => {
  const update: Storage['update'] = (table, key, change, options) =>
    world.storage.update(
      table,
      key,
      async (stored) => {
        await change(stored)
        return change(stored)
      },
      options,
    )
  await exchange({ update })
  expect([signed, announced]).toEqual([1, 1])
})

describe('an ID token that is exchanged once', () => {
  const writeRecord = (more: JsonObject) => () => {
    const { pk, sk, attributes } = replayRecord(exchanged.token, exchanged.trust, 'other')
    return world.storage.writeCompanion({ pk, sk, attributes: { ...attributes, ...more } }, { deadline: endless })
  }

  test('is exchanged although another exchange has used it meanwhile and given it back', async () => {
    afterRead = writeRecord({ returned: true })
    expect((await exchange({ use: 'Once' })).issued).toBeDefined()
  })

  test('is refused if another exchange has used it meanwhile', async () => {
    afterRead = writeRecord({})
    await expect(exchange({ use: 'Once' })).rejects.toMatchObject({ reason: 'replayed' })
    expect(await countKeys()).toBe(0)
  })
})

/** Fails the first write after it was composed. */
function failsFirst(failure: Error): Storage['update'] {
  let tries = 0
  return async (...write) => {
    tries += 1
    if (tries > 1) return world.storage.update(...write)
    await write[2](undefined)
    throw failure
  }
}

test('a name that is taken is replaced by another one, whose key gets a token of its own', async () => {
  const update = failsFirst(alreadyExists({ group: '', resource: 'keys' }, 'taken'))
  expect((await exchange({ update })).issued).toMatchObject({ text: 'token 2' })
  expect(announced).toBe(2)
})

test.each([false, true])(
  'a key whose records another exchange has changed gets one token (late: %s)',
  async (isLate) => {
    const update = failsFirst(new StorageError('CompanionExists', 'a race'))
    expect((await exchange({ use: 'Once', isLate, update })).issued).toMatchObject({ text: 'token 1' })
    expect([signed, asked.length, await countKeys()]).toEqual([1, 1, 1])
  },
)

test.each([
  ['always loses', 'CompanionExists', 20],
  ['the store does not answer', 'Unavailable', 1],
] as const)('an exchange that %s ends with an error (%s) after %i attempts', async (_what, code, most) => {
  let tries = 0
  const update = () => {
    tries += 1
    return Promise.reject(new StorageError(code, 'a failure'))
  }
  await expect(exchange({ update })).rejects.toMatchObject({ code })
  expect(tries).toBe(most)
})

describe('an exchange', () => {
  test.each([false, true])(
    'whose target is ended after it has looked makes no key, and answers no token (late: %s)',
    async (isLate) => {
      afterRead = end
      await expect(exchange({ isLate })).rejects.toMatchObject({ code: 'invalid_request', reason: 'ended' })
      expect(await countKeys()).toBe(0)
    },
  )

  test('is refused after a key of its ID token and target was deleted, for as long as the ID token is accepted', async () => {
    const { name } = await exchange()
    await world.delete(name)
    for (const after of [1, HOUR, 4 * HOUR + 29])
      await expect(exchange({ after })).rejects.toMatchObject({ reason: 'ended' })
    expect(await countKeys()).toBe(0)
  })
})

test.each([[], ['example.com/wait']])(
  'a key that has only expired ends no target (finalizers: %j)',
  async (...finalizers) => {
    const { name } = await exchange()
    await world.change(name, (object) => ({ ...object, metadata: { ...object.metadata, finalizers } }))
    const place = { namespace: '', name }
    await deleteObject(world.keys, place, { intent: { type: 'expiry' } }, contextOf(admin))
    expect(await readEnded()).toBeUndefined()
  },
)

test('what says that a target was ended is kept as long as the record of the ID token, an hour longer than that is accepted', async () => {
  const { name } = await exchange()
  await world.delete(name)
  const { token, trust } = exchanged
  const accepts = (seconds: number) =>
    checkTimes(token, new Date(seconds * 1000), { longest: 24 * HOUR, maxTokenAge: undefined }) === undefined
  const last = [0, 30, 60].map((more) => token.expires + more - 1).findLast(accepts) ?? 0
  const { expires } = (await readEnded())?.attributes ?? {}
  expect(expires).toBe(last + 1 + HOUR)
  expect(replayRecord(token, trust, name).attributes.expires).toBe(expires)
})

test('the gates are those of the trust and the provider', async () => {
  const [trust] = gateKeys({ trust: exchanged.trust, provider: exchanged.provider })
  await exchange()
  await world.storage.writeCompanion({ ...trust, attributes: null }, { deadline: endless })
  await expect(exchange()).rejects.toMatchObject({ code: 'invalid_request', reason: 'client_disabled' })
})
