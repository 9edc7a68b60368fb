/** Tests that the watches of a key are counted also where a page does not hold them all. */
import { expect, test } from 'vitest'
import { limits } from '../../../lib/engine/storage/limits.ts'
import { storageOver } from '../../../lib/engine/storage/protocol/storage.ts'
import { watchCounter } from '../../../lib/server/openwatches.ts'
import { unhurried } from '../../support/deadlines.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'
import { alice, contextOf } from '../../support/users.ts'

const now = () => 1_000_000
const most = limits.queryItems + 100

/** Returns how to open a watch of a key that has this number of records of open watches, some of watches that have ended, and some from a clock that was ahead. */
async function keyWith(open: number, ended = 0, wrong = 0) {
  const storage = storageOver(createMemoryItems(now), { now, elapsed: now, random: () => 0, sleep: async () => {} })
  for (let count = 0; count < open + ended + wrong; count++) {
    // The ended ones are on the first page.
    const sk = `${alice.key.uid}#${String(count).padStart(5, '0')}`
    const attributes = { until: now() + (count < ended ? 0 : count < ended + wrong ? 86_400_000 : 60_000) }
    await storage.writeCompanion({ pk: `watches#${alice.identity}`, sk, attributes }, unhurried)
  }
  let pages = 0
  const queryCompanions: typeof storage.queryCompanions = (...query) => {
    pages += 1
    return storage.queryCompanions(...query)
  }
  const openWatch = watchCounter({ storage: { ...storage, queryCompanions }, most, now, uuid: () => 'new' })
  return { open: () => openWatch(contextOf(alice)), pages: () => pages }
}

// threat: gateway-17
test('a limit above the size of a page holds', async () => {
  await expect((await keyWith(most)).open()).rejects.toThrow(`has ${most} open watches`)
  await (await keyWith(most - 1)).open()
})

test('records of watches that have ended hide no open ones', async () =>
  expect((await keyWith(most, limits.queryItems)).open()).rejects.toThrow(`has ${most} open watches`))

test('records from a clock that was ahead count for nothing', async () =>
  void (await (await keyWith(0, 0, most)).open()))

test('few watches are counted with one read', async () => {
  const { open, pages } = await keyWith(3)
  await open()
  expect(pages()).toBe(1)
})
