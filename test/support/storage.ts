/** The store over a table, with the clocks and randomness of this process. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createStorage } from '../../lib/storage/dynamodb/dynamodb.ts'
import type { Storage } from '../../lib/storage/interface.ts'

/** Returns the store of a table, as the functions use it. */
export const createRealStorage = (client: DynamoDBClient, table: string): Storage =>
  createStorage({
    client,
    table,
    now: Date.now,
    elapsed: () => performance.now(),
    random: Math.random,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  })
