/** Makes the table of the local server: in this process, or in the DynamoDB of an address. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DynamoDBClient,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { asSentence } from '../../clients/core/src/answers.ts'
import { UnusableFile } from '../../lib/storage/sqlite/database.ts'
import { nameTable } from '../../lib/storage/sqlite/named.ts'
import { itemsOf } from '../../lib/storage/sqlite/sqlite.ts'
import { openTable, type Table } from '../../lib/storage/sqlite/table.ts'
import type { MakeTable } from './aws/resources.ts'
import { damaged, fileProblem, ofAnotherRelease } from './host/fileproblem.ts'
import { StartupError } from './host/startuperror.ts'

/** Opens the table of this process in a file, or without a path in memory, until the stack is disposed of. Throws a StartupError. */
export function embeddedTable(path: string | undefined, now: () => number, stack: AsyncDisposableStack): MakeTable {
  const table = stack.adopt(open(path, now), (one) => one.close())
  return async (name) => stack.defer(nameTable(name, (_, { now, called }) => itemsOf(table, now, called)))
}

function open(path: string | undefined, now: () => number): Table {
  if (path === undefined) return openTable(':memory:', now)
  const folder = dirname(path)
  if (existsSync(join(folder, 'dynamodb.db'))) {
    throw new StartupError(
      `The data folder ${folder} was written by an earlier release, whose embedded DynamoDB this one does not have: name another folder in DATA_DIR, or remove this one to start afresh.`,
    )
  }
  try {
    return openTable(path, now)
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw fileProblem(error, { path, what: 'file' }) ?? error
    throw {
      damaged: damaged(path, error),
      foreign: ofAnotherRelease(path, error),
      unsafe: new StartupError(`The data file ${path} ${error.message}: name another folder in DATA_DIR.`, error),
    }[error.problem]
  }
}

/** Creates the table, with the properties of the template, in a DynamoDB or an emulator of it. */
export const tableOf =
  (endpoint: string, region: string, credentials: { accessKeyId: string; secretAccessKey: string }): MakeTable =>
  async (name, properties) => {
    const client = new DynamoDBClient({ endpoint, region, credentials })
    try {
      await client.send(new CreateTableCommand(tableInput(name, properties)))
      const { AttributeName, Enabled } = (properties.TimeToLiveSpecification ?? {}) as Record<string, never>
      if (AttributeName)
        await client.send(
          new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: { AttributeName, Enabled } }),
        )
    } catch (error) {
      const { name: reason, message } = error as Error
      if (reason !== 'ResourceInUseException')
        throw new StartupError(
          asSentence(`DynamoDB at ${endpoint} cannot create the table ${name}: ${message || reason}`),
          error,
        )
    } finally {
      client.destroy()
    }
  }

/**
 * Returns the properties that CloudFormation and the API have in common. Omits the stream: its readers run on timers here,
 * and the emulator keeps stream records forever and slows down as they accumulate.
 */
function tableInput(name: string, properties: Readonly<Record<string, unknown>>): CreateTableCommandInput {
  const { AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes } = properties as Pick<
    CreateTableCommandInput,
    'AttributeDefinitions' | 'KeySchema' | 'BillingMode' | 'GlobalSecondaryIndexes'
  >
  return {
    TableName: name,
    AttributeDefinitions,
    KeySchema,
    BillingMode,
    ...(GlobalSecondaryIndexes && { GlobalSecondaryIndexes }),
  }
}
