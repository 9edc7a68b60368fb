/** Tests the steps of every purpose for which a key is judged, on a store in memory: what each writes, and in which order. */
import { afterEach, describe, expect, test } from 'vitest'
import { managementRequest } from '../../../../lib/access/attributes/attributes.ts'
import { parseSpaceNamespace } from '../../../../lib/access/scopes/space.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { generateAccessKey } from '../../../../lib/keys/credential/accesskey.ts'
import { credentialItemKey, readCredential } from '../../../../lib/keys/credential/credential.ts'
import {
  type Admitting,
  type Asked,
  admit,
  type Confirmed,
  confirmedBefore,
  PURPOSES,
  type Purpose,
  type Verdict,
} from '../../../../lib/keys/requests/admit.ts'
import { authenticate, type LivingKey } from '../../../../lib/keys/requests/authenticate.ts'
import { type RecordedUsage, readUsage } from '../../../../lib/keys/usage/items.ts'
import { createUsageRecorder, noUsage } from '../../../../lib/keys/usage/recorder.ts'
import { KINDS } from '../../../../lib/kinds.ts'
import { admitting, authenticationDeps } from '../../../../lib/server/authentication.ts'
import { endless } from '../../../support/deadlines.ts'
import { openStore, storageIn, type TestStore } from '../../../support/store.ts'
import { HASH, itemOf, storedKey } from '../keys.ts'

const KEY = generateAccessKey(() => new Uint8Array(32).fill(7))
const scopes = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
const scope = { projects: [{ project: 'web' }], clusters: [{ cluster: 'eu' }] }
const PENDING = { pending: true, overlap: 60, value: 2 }

const getting = (project: string) =>
  managementRequest(KINDS.VirtualClusterInstance, { verb: 'get', name: 'dev', namespace: `p-${project}` })
const pods = managementRequest({ group: '', plural: 'pods' }, { verb: 'list', namespace: 'shop' })
const placed = (name: string) => ({ attributes: pods, place: { type: 'cluster', name } as const })

/** What a caller of each purpose asks that the key may do, and something that its scopes refuse. */
const requests: Readonly<Record<Purpose, readonly [Omit<Asked, 'isRecorded'>, Omit<Asked, 'isRecorded'>]>> = {
  request: [{ attributes: getting('web') }, { attributes: getting('shop') }],
  unserved: [{ attributes: getting('web') }, { attributes: getting('shop') }],
  further: [{ attributes: getting('web') }, { attributes: getting('shop') }],
  exchange: [{ attributes: getting('web') }, { attributes: getting('shop') }],
  tokenReview: [{ place: placed('eu').place }, { place: placed('us').place }],
  accessReview: [placed('eu'), placed('us')],
  self: [{}, {}],
  question: [{ attributes: getting('web') }, { attributes: getting('shop') }],
}

interface Cells {
  /** Whether a request is refused that the scopes refuse. */
  judge: boolean
  /** Whether a pending value gets its first use, or a key that has ended since is refused although nothing is written. */
  confirm: 'no' | 'first use' | 'read'
  /** Whether the last activity is updated. */
  touch: boolean
  /** What the usage of the key names of what was allowed. */
  used: 'nothing' | 'request' | 'acceptance'
  /** Whether the usage of the key names what was refused. */
  refused: boolean
}

const cells: Readonly<Record<Purpose, Cells>> = {
  request: { judge: true, confirm: 'first use', touch: true, used: 'request', refused: true },
  unserved: { judge: true, confirm: 'first use', touch: true, used: 'request', refused: false },
  further: { judge: true, confirm: 'no', touch: false, used: 'request', refused: false },
  exchange: { judge: true, confirm: 'no', touch: false, used: 'request', refused: false },
  tokenReview: { judge: false, confirm: 'first use', touch: true, used: 'acceptance', refused: false },
  accessReview: { judge: true, confirm: 'read', touch: false, used: 'request', refused: true },
  self: { judge: false, confirm: 'no', touch: true, used: 'nothing', refused: false },
  question: { judge: true, confirm: 'no', touch: false, used: 'nothing', refused: false },
}

const purposes = Object.keys(PURPOSES) as Purpose[]
const judging = purposes.filter((purpose) => cells[purpose].judge)
const confirming = purposes.filter((purpose) => cells[purpose].confirm !== 'no')

const stores: TestStore[] = []
afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())))

interface World {
  /** The item of the key as the store has it. */
  read(): Promise<JsonObject | undefined>
  /** Changes the item, as a write of the key does; null deletes it. */
  change(attributes: JsonObject | null): Promise<void>
  usage(): Promise<RecordedUsage>
  /** Everything in the store. */
  all(): Promise<unknown>
  /** Authenticates the key, does `meanwhile`, and admits the key. */
  act(purpose: Purpose, asked: Asked, meanwhile?: () => Promise<unknown>): Promise<Verdict>
}

/** Starts with the credential of a key that has a scope, with more attributes. */
async function start(more: JsonObject = {}): Promise<World> {
  const store = await openStore()
  stores.push(store)
  const storage = storageIn(store.items())
  const fail = (error: unknown) => {
    throw error
  }
  const parts = { storage, hashes: async () => [HASH], limits: {}, recordSources: false }
  const deps = authenticationDeps(parts, fail)
  const usage = createUsageRecorder({ storage, scopes, now: Date.now, failed: fail })
  const change = async (attributes: JsonObject | null) =>
    void (await storage.writeCompanion({ ...credentialItemKey(HASH), attributes }, { deadline: endless }))
  const read = async () => (await storage.getCompanions([credentialItemKey(HASH)]))[0]?.attributes
  const { pk: _, sk: __, ...item } = itemOf(storedKey({ scope }))
  await change({ ...item, ...more })
  const presented = admitting({ scopes, usage }, deps)
  const now: Admitting<LivingKey> = {
    ...presented,
    async confirm({ user }): Promise<Confirmed> {
      const found = await read()
      if (!found) return { ended: { dead: 'access key is gone' } }
      const { uid, generation, chain, disabled } = readCredential(found)
      const today = { key: { ...user.key, uid, generation }, chain }
      return disabled ? { user: today, ended: { dead: 'token has ended' } } : { user: today }
    },
  }
  return {
    read,
    change,
    usage: async () => readUsage((await storage.queryCompanions('usage#u-1')).items, scopes),
    all: () => store.all(),
    async act(purpose, asked, meanwhile) {
      const living = await authenticate(KEY, deps)
      if (!('user' in living)) throw new Error('not authenticated')
      await meanwhile?.()
      const how = PURPOSES[purpose].confirm === 'read' ? now : presented
      return admit(living, asked, purpose, how)
    },
  }
}

const recorded = (asked: Omit<Asked, 'isRecorded'>): Asked => ({ ...asked, isRecorded: true })
const nothing = { entries: [], accepted: [], refused: [] }

describe.each(purposes)('the purpose %s', (purpose) => {
  const [allowed, outside] = requests[purpose]
  const { judge, confirm, touch, used, refused } = cells[purpose]

  test(`${judge ? 'judges' : 'does not judge'}`, async () => {
    const { act } = await start()
    expect((await act(purpose, recorded(outside))).decision.allowed).toBe(!judge)
    expect((await act(purpose, recorded(allowed))).decision.allowed).toBe(true)
  })

  test(`confirms: ${confirm}`, async () => {
    const { act, read, change } = await start(PENDING)
    const { decision } = await act(purpose, recorded(allowed))
    expect(decision.allowed).toBe(true)
    expect((await read())?.firstUsed !== undefined).toBe(confirm === 'first use')
    const item = await read()
    const { firstUsed: _, ...unused } = item ?? {}
    await change(unused)
    const ended = await act(purpose, recorded(allowed), () => change(null))
    expect(ended.ended !== undefined).toBe(confirm !== 'no')
    expect(ended.decision.allowed).toBe(confirm === 'no')
  })

  test(`${touch ? 'touches' : 'does not touch'}`, async () => {
    const { act, read } = await start()
    await act(purpose, recorded(allowed))
    expect((await read())?.lastActivity !== undefined).toBe(touch)
  })

  test(`records as used: ${used}`, async () => {
    const { act, usage } = await start()
    await act(purpose, recorded(allowed))
    expect(await usage()).toMatchObject({
      ...nothing,
      entries: used === 'request' ? [{ entry: { attributes: { verb: allowed.attributes?.verb } } }] : [],
      accepted: used === 'acceptance' ? [{ place: allowed.place }] : [],
    })
  })

  test(`${refused ? 'records' : 'does not record'} what it refuses`, async () => {
    const { act, usage } = await start()
    await act(purpose, recorded(outside))
    const { refused: denied } = await usage()
    expect(denied.map(({ entry }) => entry.attributes.verb)).toEqual(refused ? [outside.attributes?.verb] : [])
  })

  test('writes nothing unless it is recorded, though reads confirm the key all the same', async () => {
    for (const more of [{}, PENDING]) {
      const { act, all, change } = await start(more)
      const before = await all()
      expect((await act(purpose, { ...allowed, isRecorded: false })).decision.allowed).toBe(true)
      expect((await act(purpose, { ...outside, isRecorded: false })).decision.allowed).toBe(!judge)
      expect(await all()).toEqual(before)
      const { ended } = await act(purpose, { ...allowed, isRecorded: false }, () => change(null))
      expect(ended !== undefined).toBe(confirm === 'read')
    }
  })
})

test.each(judging)('%s confirms and touches nothing that the scopes refuse', async (purpose) => {
  for (const more of [{}, PENDING]) {
    const { act, read } = await start(more)
    const before = await read()
    const { decision, ended } = await act(purpose, recorded(requests[purpose][1]))
    expect([decision.allowed, ended]).toEqual([false, undefined])
    expect(await read()).toEqual(before)
  }
})

test.each(confirming)('%s records nothing of a key that has ended since it was authenticated', async (purpose) => {
  const { act, usage, read, change } = await start(PENDING)
  const [allowed] = requests[purpose]
  const { decision, ended } = await act(purpose, recorded(allowed), () => change(null))
  expect([decision.allowed, ended]).toEqual([false, expect.anything()])
  expect(await usage()).toMatchObject(nothing)
  expect(await read()).toBeUndefined()
})

test('a first use that cannot be recorded rejects, and nothing is recorded', async () => {
  const { act, usage, read, change } = await start(PENDING)
  const before = await read()
  const changed = { ...before, generation: 2 }
  const [allowed] = requests.request
  await expect(act('request', recorded(allowed), () => change(changed))).rejects.toMatchObject({
    status: { code: 503 },
  })
  expect(await usage()).toMatchObject(nothing)
  expect(await read()).toEqual(changed)
})

test('the reason of a verdict says why the key has ended', async () => {
  const { act, read, change } = await start(PENDING)
  const item = await read()
  const [allowed] = requests.request
  const gone = await act('request', recorded(allowed), () => change(null))
  expect(gone).toEqual({
    decision: { allowed: false, reason: 'unknown access key' },
    chain: [scope],
    ended: { unknown: true },
  })
  await change(item ?? null)
  const dead = await act('request', recorded(allowed), () => change({ ...item, disabled: true }))
  const reason = 'access key is disabled'
  expect(dead).toEqual({ decision: { allowed: false, reason }, chain: [scope], ended: { dead: reason } })
})

describe('an access review', () => {
  const [allowed, outside] = requests.accessReview
  const narrowed = (item: JsonObject | undefined) => ({
    ...item,
    chain: [scope, { clusters: [{ cluster: 'us' }] }],
    generation: 2,
  })

  test('is judged again by the scopes of today, which its refusal names', async () => {
    const { act, usage, read, change } = await start()
    const item = await read()
    const { decision, chain, ended } = await act('accessReview', recorded(allowed), () => change(narrowed(item)))
    expect([decision.allowed, ended, chain]).toEqual([false, undefined, narrowed(item).chain])
    expect(await usage()).toMatchObject({ entries: [], refused: [{ entry: { place: allowed.place } }] })
  })

  test('is recorded under the generation and the scopes of today', async () => {
    const seen: unknown[] = []
    const usage = { ...noUsage, used: async (...use: unknown[]) => void seen.push(use) }
    const user = { key: { uid: 'u-1' }, chain: [scope] }
    const today = { key: { uid: 'u-1', generation: 2 }, chain: [{ clusters: [{ cluster: '*' }] }] }
    const deps = { ...confirmedBefore({ scopes, usage }), confirm: async () => ({ user: today }) }
    const { chain } = await admit({ user }, recorded(allowed), 'accessReview', deps)
    expect(chain).toEqual(today.chain)
    expect(seen).toEqual([[today.key, today.chain, allowed.attributes, allowed.place]])
  })

  test('records what the scopes refuse only while the key gives access, whatever has become of the token', async () => {
    for (const [after, count] of [[null, 0] as const, [{ disabled: true }, 1] as const]) {
      const { act, usage, read, change } = await start()
      const item = await read()
      const meanwhile = () => change(after && { ...item, ...after })
      expect((await act('accessReview', recorded(outside), meanwhile)).decision.allowed).toBe(false)
      expect((await usage()).refused).toHaveLength(count)
    }
  })

  test('denies the request of a token that has ended, and records nothing', async () => {
    const { act, usage, read, change } = await start()
    const item = await read()
    const verdict = await act('accessReview', recorded(allowed), () => change({ ...item, disabled: true }))
    expect(verdict).toMatchObject({ decision: { allowed: false }, ended: { dead: 'token has ended' } })
    expect(await usage()).toMatchObject(nothing)
  })
})
