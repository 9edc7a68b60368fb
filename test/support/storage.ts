/** The store over a table, with the clocks and randomness of this process. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { itemsIn } from '../../lib/storage/dynamodb/dynamodb.ts'
import type { Storage } from '../../lib/storage/interface.ts'
import { type StorageOptions, storageOver } from '../../lib/storage/protocol/storage.ts'

export const createStorage = ({
  client,
  table,
  ...options
}: StorageOptions & { client: DynamoDBClient; table: string }): Storage =>
  storageOver(itemsIn(client, table, options.now), options)

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
