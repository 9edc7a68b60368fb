/** Stores items in one DynamoDB table with string keys `pk` and `sk`, whose TTL attribute is `expires`. */
import type { ChangesIn, Driver } from '../driver.ts'
import { connectTable } from './client.ts'
import { itemsIn } from './dynamodb.ts'
import { streamedWrites } from './stream.ts'

/** Two attempts of one second each. After that the protocol retries, well before a handler times out. */
const clientSettings = { maxAttempts: 2, patience: { connectionTimeout: 500, requestTimeout: 1000 } }

/** Runs inside the retry middleware, so that retries count. */
const counted =
  (called: () => void) =>
  <Arguments, Answer>(next: (args: Arguments) => Promise<Answer>) =>
  (args: Arguments): Promise<Answer> => {
    called()
    return next(args)
  }

export const driver: Driver = {
  open(table, { now, uuid, called }) {
    const client = connectTable({ ...clientSettings, uuid })
    client.middlewareStack.add(counted(called), { step: 'finalizeRequest', priority: 'low', name: 'counted' })
    return itemsIn(client, table, now)
  },
}

export const changesIn: ChangesIn = streamedWrites
