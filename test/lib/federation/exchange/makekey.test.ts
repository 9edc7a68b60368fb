/** Tests how often an exchange tries to store its key. */
import { beforeEach, expect, test } from 'vitest'
import { alreadyExists } from '../../../../lib/engine/meta/errors/status.ts'
import { StorageError } from '../../../../lib/engine/storage/errors.ts'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import type { Exchanged } from '../../../../lib/federation/exchange/exchangedkey.ts'
import { exchangeForKey } from '../../../../lib/federation/exchange/makekey.ts'
import { checkNotEnded } from '../../../../lib/federation/exchange/records.ts'
import { partitionOf } from '../../../../lib/federation/exchange/replay.ts'
import { replayId } from '../../../../lib/federation/idtoken.ts'
import type { TokenUse } from '../../../../lib/federation/issuers.ts'
import { OAuthError } from '../../../../lib/federation/oauth/oautherror.ts'
import { decodeKeyInternal } from '../../../../lib/keys/credential/keyinternal.ts'
import { endedTargets } from '../../../../lib/keys/credential/targetkeys.ts'
import { endless } from '../../../support/deadlines.ts'
import { newWorld, type World } from '../../engine/controllers/world.ts'
import { newExchanged } from './fixtures.ts'

let world: World
let exchanged: Exchanged
beforeEach(async () => {
  world = await newWorld()
  exchanged = await newExchanged(world)
})

const taken = () => alreadyExists({ group: '', resource: 'keys' }, 'taken')
const recorded = () => new StorageError('CompanionExists', 'a race')

/** Makes a key whose first writes fail, and returns how many there were, the names that were announced, and what came of them. */
async function attempts(use: TokenUse, fails: number, failure: () => Error, maxKeys?: number) {
  let writes = 0
  const update: Storage['update'] = async (...write) => {
    writes += 1
    if (writes > fails) return world.storage.update(...write)
    await write[2](undefined)
    throw failure()
  }
  const storage = { ...world.storage, update }
  const server = { storage, storeOf: () => world.over(storage).keys } as unknown as Parameters<typeof exchangeForKey>[0]
  const { trust } = exchanged
  const spec = { ...trust.spec, ...(maxKeys !== undefined && { maxKeys }) }
  const names: string[] = []
  const announce = ({ name }: { name: string }) => void names.push(name)
  const call = { now: new Date(), deadline: endless }
  const outcome = await exchangeForKey(
    server,
    call,
    { ...exchanged, trust: { ...trust, spec } },
    { use, isDryRun: false, announce },
  ).then(
    ({ name }) => name,
    (error) => error,
  )
  return { writes, outcome, names }
}

test.each(['Once', 'Lifetime'] as const)('a name that is taken is replaced by another one (%s)', async (use) => {
  const { writes, outcome, names } = await attempts(use, 2, taken)
  expect([writes, new Set(names).size, names.at(-1)]).toEqual([3, 3, outcome])
})

test.each([
  { use: 'Lifetime', why: 'a slot that another exchange took' },
  { use: 'Once', why: 'a slot of the trust that another exchange took', maxKeys: 5 },
] as const)('$why is replaced by another one', async ({ use, ...more }) => {
  const { writes, names, outcome } = await attempts(use, 2, recorded, 'maxKeys' in more ? more.maxKeys : undefined)
  expect([writes, names]).toEqual([3, [outcome, outcome, outcome]])
})

test('only the record of its ID token can be in the way of a trust without a limit', async () => {
  const { writes, outcome } = await attempts('Once', 1, recorded)
  expect([writes, outcome]).toEqual([1, expect.any(OAuthError)])
  expect(outcome).toMatchObject({ reason: 'replayed' })
})

test.each([
  ['Once', taken],
  ['Lifetime', recorded],
] as const)('the attempts end (%s)', async (use, failure) => {
  const { writes, outcome } = await attempts(use, Number.POSITIVE_INFINITY, failure)
  expect([writes, outcome]).toEqual([20, failure()])
})

test('another error is not answered by another attempt', async () => {
  const { writes, outcome } = await attempts('Lifetime', 1, () => new StorageError('Unavailable', 'away'))
  expect([writes, outcome]).toEqual([1, expect.any(StorageError)])
})

test('an ID token whose key for a target was ended gives no access key for this trust, also if that happens during the exchange', async () => {
  const { trust, token } = exchanged
  const end = () =>
    world.storage.writeCompanion({ ...endedTargets(trust.uid, replayId(token)), attributes: {} }, { deadline: endless })
  let ended = false
  const update: Storage['update'] = async (...write) => {
    if (!ended) await end()
    ended = true
    return world.storage.update(...write)
  }
  const server = { storage: { ...world.storage, update }, storeOf: () => world.over({ ...world.storage, update }).keys }
  const asked = { use: 'Lifetime', isDryRun: false, announce: () => undefined } as const
  const call = { now: new Date(), deadline: endless }
  for (let times = 0; times < 2; times++)
    await expect(exchangeForKey(server as never, call, exchanged, asked)).rejects.toMatchObject({ reason: 'ended' })
  const check = (uid: string) => checkNotEnded(world, [endedTargets(uid, replayId(token))])
  await expect(check(trust.uid)).rejects.toMatchObject({ reason: 'ended' })
  await expect(check('another')).resolves.toBeUndefined()
})

/** Returns the keys of what an exchange has recorded beside its key. */
async function recordsAfter(use: TokenUse, maxKeys?: number): Promise<string[]> {
  await attempts(use, 0, recorded, maxKeys)
  const { token, trust } = exchanged
  const pools = [partitionOf(token), `exchange#${trust.uid}`]
  const found = await Promise.all(pools.map((pk) => world.storage.queryCompanions(pk)))
  return found.flatMap(({ items }, index) =>
    items.map(({ sk }) => `${index === 0 ? 'token' : 'trust'} ${sk.slice(0, 3)}`),
  )
}

test.each([
  { use: 'Once', records: ['token #'] },
  { use: 'Lifetime', records: ['token tru'] },
  { use: 'Once', maxKeys: 3, records: ['token #', 'trust key'] },
  { use: 'Lifetime', maxKeys: 3, records: ['token tru', 'trust key'] },
] as const)('an exchange records what limits the next ones: %j', async ({ records, ...limits }) => {
  expect(await recordsAfter(limits.use, 'maxKeys' in limits ? limits.maxKeys : undefined)).toEqual(records)
})

test.each([
  { what: 'a person has signed in when the ID token was issued', mapped: true, ahead: -600, signedIn: -600 },
  { what: 'or now, if that is in the future', mapped: true, ahead: 20, signedIn: 0 },
  { what: 'a job has not', mapped: false, ahead: 0, signedIn: undefined },
])('$what', async ({ mapped, ahead, signedIn }) => {
  const at = Math.floor(Date.now() / 1000)
  const person = { mapped: { user: 'company:mona', groups: [] } }
  exchanged = { ...exchanged, token: { ...exchanged.token, issuedAt: at + ahead }, ...(mapped && person) }
  const { outcome } = await attempts('Once', 0, recorded)
  const found = await world.storage.get(world.keys.kind.table, String(outcome))
  const since = found && decodeKeyInternal(found.internal).signedIn
  if (signedIn === undefined) expect(since).toBeUndefined()
  else expect(Math.abs(Number(since) - at - signedIn)).toBeLessThan(5)
})
