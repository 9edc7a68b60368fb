/**
 * Opens an empty table for a test file, with the driver of the suite: the one in this process, or in `npm run test:dynamodb` the one
 * of the deployed functions, over an emulator. The configuration of a suite selects it as bundles do, by a condition of package.json.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { driver } from '#store-driver'
import { provide } from '../../lib/engine/meta/provided.ts'
import type { Driver } from '../../lib/engine/storage/driver.ts'
import type { Storage } from '../../lib/engine/storage/interface.ts'
import type { Item, Items } from '../../lib/engine/storage/items.ts'
import { storageOver } from '../../lib/engine/storage/protocol/storage.ts'
import { openDatabase } from '../../lib/engine/storage/sqlite/database.ts'
import { driver as embedded, tableNamed } from '../../lib/engine/storage/sqlite/driver.ts'
import { decode } from '../../lib/engine/storage/sqlite/encoding.ts'
import { itemsOf } from '../../lib/engine/storage/sqlite/sqlite.ts'
import { tableIn } from '../../lib/engine/storage/sqlite/table.ts'
import type { TestDynamoDB } from './dynamodb.ts'

export interface TestStore {
  /** The name of the table. */
  table: string
  /** Returns the items of the store. Their deadlines are judged by `now`, by default the clock of this machine. */
  items(now?: () => number): Items
  all(): Promise<Item[]>
  /** Deletes all items. */
  empty(): Promise<void>
  /** Changes the items of those who open the table by its name from now on. Only in this process. */
  around?: (items: Items) => Items
  /** The emulator, for tests of `npm run test:dynamodb`. */
  readonly dynamodb: TestDynamoDB
  close(): Promise<void>
}

export const isDynamoDB = driver !== embedded

/** `file` keeps the table in this process there; by default it is in memory. */
export const openStore = (file = ':memory:'): Promise<TestStore> => (isDynamoDB ? openDynamoDB() : openEmbedded(file))

async function openDynamoDB(): Promise<TestStore> {
  const { startDynamoDB } = await import('./dynamodb.ts')
  const { itemsIn } = await import('../../lib/engine/storage/dynamodb/dynamodb.ts')
  const dynamodb = await startDynamoDB()
  const { connect, table, all, empty, stop } = dynamodb
  return { table, items: (now = Date.now) => itemsIn(connect(), table, now), all, empty, dynamodb, close: stop }
}

async function openEmbedded(file: string): Promise<TestStore> {
  const name = `test-${randomUUID()}`
  const database = openDatabase(file)
  const table = tableIn(database, Date.now)
  const forget = provide<Driver['open']>(tableNamed(name), (_, { now, called }) => {
    const items = itemsOf(table, now, called)
    return store.around?.(items) ?? items
  })
  const store: TestStore = {
    table: name,
    items: (now = Date.now) => itemsOf(table, now),
    all: async () =>
      database
        .prepare(
          'SELECT body, object, pk, sk FROM items UNION ALL SELECT body, NULL, pk, sk FROM tombstones ORDER BY pk, sk',
        )
        .all()
        .map(({ body, object }) => decode(String(body), object === null ? null : String(object))),
    empty: async () => database.exec('DELETE FROM items; DELETE FROM tombstones'),
    get dynamodb(): never {
      throw new Error('only the tests of npm run test:dynamodb have an emulator')
    },
    async close() {
      forget()
      table.close()
    },
  }
  return store
}

/** Returns the storage over items, with the clocks and the randomness of this machine. */
export const storageIn = (items: Items): Storage =>
  storageOver(items, { now: Date.now, elapsed: () => performance.now(), random: Math.random, sleep: (ms) => delay(ms) })
