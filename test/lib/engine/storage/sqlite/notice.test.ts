/** Tests that a watch in the process of the writers needs no poll to see a change. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Storage } from '../../../../../lib/engine/storage/interface.ts'
import { itemsOf } from '../../../../../lib/engine/storage/sqlite/sqlite.ts'
import { openTable, type Table } from '../../../../../lib/engine/storage/sqlite/table.ts'
import { storageIn } from '../../../../support/store.ts'
import { create, remove, set, widgets } from '../fixtures.ts'

let table: Table

beforeEach(() => {
  table = openTable(':memory:', Date.now)
})
afterEach(() => table.close())

describe('a notice of changes', () => {
  test('ends each wait at the change, whoever writes it, in every bucket of the log', async () => {
    const [reader, writer] = [itemsOf(table, Date.now), itemsOf(table, Date.now)].map(storageIn) as [Storage, Storage]
    let rv = await reader.revision(widgets)
    const writes = [
      () => create(writer, 'one'),
      ...Array.from({ length: 140 }, (_, n) => () => set(writer, 'one', { n })),
      () => remove(writer, 'one'),
    ]
    for (const write of writes) {
      using notice = reader.notice(widgets, rv)
      expect((await reader.changes(widgets, rv)).changes).toEqual([])
      await write()
      await notice.change
      const batch = await reader.changes(widgets, rv)
      expect(batch.changes).toHaveLength(1)
      rv = batch.rv
    }
  })

  test('is not about other kinds, rows that are not changed, nor reads', async () => {
    const storage = storageIn(itemsOf(table, Date.now))
    await create(storage, 'one')
    using notice = storage.notice(widgets, await storage.revision(widgets))
    const told = vi.fn()
    notice.change.then(told)
    await create(storage, 'one', {}, { ...widgets, resource: 'gadgets' })
    await storage.writeCompanion({ pk: 'widgets#note', sk: '#', attributes: {} }, { deadline: () => 1000 })
    await storage.changes(widgets, 1)
    expect(told).not.toHaveBeenCalled()
  })

  test('that is disposed of leaves nothing behind', async () => {
    const told: string[] = []
    const { on, tell } = table.listeners
    const ends = ['a', 'a', 'b'].map((pk, index) => on(pk, () => told.push(`${pk}${index}`)))
    tell(['a', 'a'])
    ends[0]?.()
    ends[0]?.()
    tell(['a', 'b', 'c'])
    for (const end of ends) end()
    tell(['a', 'b'])
    expect(told).toEqual(['a0', 'a1', 'a1', 'b2'])
  })

  test('of a driver that cannot know tells of nothing', async () => {
    const { onWrite: _, ...items } = itemsOf(table, Date.now)
    const storage = storageIn(items)
    using notice = storage.notice(widgets, 1)
    const told = vi.fn()
    notice.change.then(told)
    await create(storage, 'one')
    expect(told).not.toHaveBeenCalled()
  })
})
