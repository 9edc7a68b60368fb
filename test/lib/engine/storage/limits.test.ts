/** Tests that the protocol obeys the limits that its driver states, whatever they are. */
import { beforeEach, expect, test } from 'vitest'
import type { Limits } from '../../../../lib/engine/storage/items.ts'
import { storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import { createMemoryItems } from '../../../support/memoryitems.ts'
import { create, widgets } from './fixtures.ts'

let items = createMemoryItems(Date.now)
beforeEach(() => {
  items = createMemoryItems(Date.now)
})
const over = (limits: Partial<Limits>) =>
  storageOver(
    { ...items, limits: { ...items.limits, ...limits } },
    { now: Date.now, random: Math.random, sleep: async () => {} },
  )

test.each<[keyof Limits, number, string]>([
  ['sortKeyBytes', 3, 'TooLarge'],
  ['partitionKeyBytes', 19, 'TooLarge'],
  ['itemBytes', 24 * 1024, 'TooLarge'],
  ['transactionBytes', 200, 'TooLarge'],
  ['transactionItems', 2, 'TooManyCompanions'],
])('a write above %s of the driver takes no revision', async (limit, value, code) => {
  const storage = over({ [limit]: value })
  const spec = { in: ['team'], text: 'x'.repeat(100) }
  await expect(create(storage, 'name', spec)).rejects.toMatchObject({ code })
  expect(await storage.revision(widgets)).toBe(1)
  await expect(over({}).get(widgets, 'name')).resolves.toBeUndefined()
})

test('a read of what the driver could not hold finds nothing', async () => {
  await create(over({}), 'name', { in: ['team'] })
  const storage = over({ sortKeyBytes: 3, partitionKeyBytes: 19 })
  expect(await storage.get(widgets, 'name')).toBeUndefined()
  for (const range of [{ counted: 'team' }, { named: 'team' }])
    expect(await storage.names(widgets, range, 5)).toEqual([])
  expect((await storage.list(widgets, { partitions: ['team'] })).items).toEqual([])
})
