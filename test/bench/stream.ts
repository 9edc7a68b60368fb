/** The emulator keeps every record of a table's stream, and slows down with their number; here nobody reads them. */
import { UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import type { TestDynamoDB } from '../support/dynamodb.ts'

/** Ends the stream of a table, which costs writers nothing where it is deployed. */
export async function endStream({ client, table }: TestDynamoDB): Promise<void> {
  await client.send(new UpdateTableCommand({ TableName: table, StreamSpecification: { StreamEnabled: false } }))
}
