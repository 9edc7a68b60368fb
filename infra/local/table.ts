/** Makes the table of the local server: in this process, or in the DynamoDB of an address. */
import type { CreateTableCommandInput, UpdateTimeToLiveCommandInput } from '@aws-sdk/client-dynamodb'
import { asSentence } from '../../clients/core/src/answers.ts'
import { provide } from '../../lib/engine/meta/provided.ts'
import type { Driver } from '../../lib/engine/storage/driver.ts'
import { UnusableFile } from '../../lib/engine/storage/sqlite/database.ts'
import { tableNamed } from '../../lib/engine/storage/sqlite/driver.ts'
import { itemsOf } from '../../lib/engine/storage/sqlite/sqlite.ts'
import { openTable, type Table } from '../../lib/engine/storage/sqlite/table.ts'
import { table } from '../stack/data.ts'
import type { MakeTable } from './aws/resources.ts'
import { damaged, fileProblem, ofAnotherRelease } from './host/fileproblem.ts'
import { StartupError } from './host/startuperror.ts'

/** Opens the table of this process in a file, or without a path in memory, until the stack is disposed of. Throws a StartupError. */
export function embeddedTable(path: string | undefined, now: () => number, stack: AsyncDisposableStack): MakeTable {
  const table = stack.adopt(open(path, now), (one) => one.close())
  const opened: Driver['open'] = (_, { now, called }) => itemsOf(table, now, called)
  return async (name) => stack.defer(provide(tableNamed(name), opened))
}

function open(path: string | undefined, now: () => number): Table {
  if (path === undefined) return openTable(':memory:', now)
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

// The client's types have no read-only lists.
const { AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes, TimeToLiveSpecification } =
  structuredClone(table.Properties) as object as CreateTableCommandInput & UpdateTimeToLiveCommandInput

/**
 * What a DynamoDB or an emulator of it creates the deployed table from. Omits the stream: its readers run on timers here, and the
 * emulator keeps stream records forever and slows down as they accumulate.
 */
export const tableDefinition = { AttributeDefinitions, KeySchema, BillingMode, GlobalSecondaryIndexes }

/** Which items of it expire. */
export const timeToLive = TimeToLiveSpecification

/** Creates the deployed table in a DynamoDB or an emulator of it. */
export const tableOf =
  (endpoint: string, region: string, credentials: { accessKeyId: string; secretAccessKey: string }): MakeTable =>
  async (TableName) => {
    // Few servers need it, and loading it takes longer than opening a table.
    const { CreateTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } = await import('@aws-sdk/client-dynamodb')
    const client = new DynamoDBClient({ endpoint, region, credentials })
    try {
      await client.send(new CreateTableCommand({ TableName, ...tableDefinition }))
      await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: timeToLive }))
    } catch (error) {
      const { name: reason, message } = error as Error
      if (reason !== 'ResourceInUseException')
        throw new StartupError(
          asSentence(`DynamoDB at ${endpoint} cannot create the table ${TableName}: ${message || reason}`),
          error,
        )
    } finally {
      client.destroy()
    }
  }
