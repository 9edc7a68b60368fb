/**
 * Opens an empty store for a test file, with the driver of the suite: the one in this process, or in `npm run test:dynamodb` the one
 * of the deployed functions, over an emulator.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Storage } from '../../lib/storage/interface.ts'
import type { Items } from '../../lib/storage/items.ts'
import { storageOver } from '../../lib/storage/protocol/storage.ts'
import { itemsOf } from '../../lib/storage/sqlite/sqlite.ts'
import { openTable } from '../../lib/storage/sqlite/table.ts'

export interface TestStore {
  /** Returns the items of the store. Their deadlines are judged by `now`, by default the clock of this machine. */
  items(now?: () => number): Items
  close(): Promise<void>
}

/** Set by the configuration of the suite. */
export const isDynamoDB = process.env.TEST_DRIVER === 'dynamodb'

export async function openStore(): Promise<TestStore> {
  if (isDynamoDB) {
    const { startDynamoDB } = await import('./dynamodb.ts')
    const { itemsIn } = await import('../../lib/storage/dynamodb/dynamodb.ts')
    const { connect, table, stop } = await startDynamoDB()
    return { items: (now = Date.now) => itemsIn(connect(), table, now), close: stop }
  }
  const table = openTable(':memory:', Date.now)
  return { items: (now = Date.now) => itemsOf(table, now), close: async () => table.close() }
}

/** Returns the storage over items, with the clocks and the randomness of this machine. */
export const storageIn = (items: Items): Storage =>
  storageOver(items, { now: Date.now, elapsed: () => performance.now(), random: Math.random, sleep: (ms) => delay(ms) })
