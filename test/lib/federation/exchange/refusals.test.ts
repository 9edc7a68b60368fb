/** Tests what is noted beside a trust that refuses an ID token, over stored trusts. */
import { beforeEach, describe, expect, test } from 'vitest'
import { createRefusals, isRefusal } from '../../../../lib/federation/exchange/refusals.ts'
import { FederatedIdentityCredential } from '../../../../lib/federation/federatedidentitycredential.ts'
import { OAuthError, unavailable } from '../../../../lib/federation/oauth/oautherror.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { newWorld, type World } from '../../engine/controllers/world.ts'
import { newExchanged } from './fixtures.ts'

const minute = 60_000
const { table } = FederatedIdentityCredential
const refusal = (message: string) => new OAuthError('invalid_request', 'claim', message)

let world: World
let exchanged: Awaited<ReturnType<typeof newExchanged>>
let time: number
let failures: unknown[]
beforeEach(async () => {
  world = await newWorld()
  exchanged = await newExchanged(world)
  time = Date.now()
  failures = []
})

const refusals = (storage = world.storage) =>
  createRefusals({ storage, now: () => time, failed: (error) => failures.push(error) })

/** Stores a trust, as far as a note needs one, and returns it. */
async function stored(name: string, uid = `uid-of-${name}`) {
  const { trust } = exchanged
  const object = { apiVersion: 'v1', kind: 'T', metadata: { name, uid }, spec: {} }
  const internal = { creator: trust.creator, carried: [], providerUid: 'p', revision: 0 }
  await world.storage.update(table, name, () => ({ type: 'put', object, internal }), unhurried)
  return { ...trust, name, uid }
}

/** Returns the message that is noted beside a trust. */
const noted = async (name: string) => (await world.storage.get(table, name))?.noted?.message

describe('a refusal is noted', () => {
  test('with the token and the reason, in a text that shows no credential', async () => {
    const trust = await stored('shop')
    const secret = `mpk_${'a'.repeat(49)}`
    const token = { ...exchanged.token, subject: `repo:\u001b[31m ${secret} ${'x'.repeat(500)}` }
    await refusals().note(trust, token, refusal('not this branch'))
    const { activity, noted: note } = (await world.storage.get(table, 'shop')) ?? {}
    expect([activity, note?.reason, note?.message]).toEqual([time, 'claim', 'not this branch'])
    expect(note?.subject).toBe(`repo:\ufffd[31m <redacted> ${'x'.repeat(256)}`.slice(0, 256))
    expect(failures).toEqual([])
  })

  test('once a minute by a process, for each trust', async () => {
    const [shop, other] = [await stored('shop'), await stored('other')]
    const process = refusals()
    await process.note(shop, exchanged.token, refusal('first'))
    time += minute - 1
    await process.note(shop, exchanged.token, refusal('soon after'))
    await process.note(other, exchanged.token, refusal('of another'))
    expect([await noted('shop'), await noted('other')]).toEqual(['first', 'of another'])
    time += 1
    await process.note(shop, exchanged.token, refusal('later'))
    expect(await noted('shop')).toBe('later')
  })

  test('once a minute for the thousand trusts that refused last', async () => {
    const shop = await stored('shop')
    const process = refusals()
    const others = (count: number, from = 0) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          process.note({ ...shop, name: 'gone', uid: `${from + index}` }, exchanged.token, refusal('')),
        ),
      )
    await process.note(shop, exchanged.token, refusal('first'))
    await others(999)
    time += 1
    await process.note(shop, exchanged.token, refusal('remembered'))
    expect(await noted('shop')).toBe('first')
    await others(1, 999)
    await process.note(shop, exchanged.token, refusal('forgotten'))
    expect(await noted('shop')).toBe('forgotten')
  })

  test('for the trust that has the name at that moment, and for none that is gone', async () => {
    const before = await stored('shop', 'before')
    await world.storage.update(table, 'shop', () => ({ type: 'delete' }), unhurried)
    await refusals().note(before, exchanged.token, refusal('of what is gone'))
    await stored('shop', 'after')
    expect(await noted('shop')).toBeUndefined()
  })

  test('without failing the answer when the store does not take it', async () => {
    const error = new Error('no store')
    const storage = { ...world.storage, touchActivity: () => Promise.reject(error) }
    await refusals(storage).note(await stored('shop'), exchanged.token, refusal('unseen'))
    expect(failures).toEqual([error])
  })
})

test('what this service or a cluster could not do is no refusal', () => {
  const errors = [
    refusal('claim'),
    new OAuthError('invalid_target', 'target', 't'),
    unavailable('cluster', 'c'),
    'text',
  ]
  expect(errors.map(isRefusal)).toEqual([true, true, false, false])
})
