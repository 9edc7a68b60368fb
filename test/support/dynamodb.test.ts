import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { startDynamoDB } from './dynamodb.ts'

test('each start has an empty table of its own', async () => {
  const [one, other] = await Promise.all([startDynamoDB(), startDynamoDB()])
  try {
    await one.client.send(new PutItemCommand({ TableName: one.table, Item: { pk: { S: 'a' }, sk: { S: 'b' } } }))
    expect((await one.connect().send(new ScanCommand({ TableName: one.table }))).Count).toBe(1)
    expect((await other.client.send(new ScanCommand({ TableName: other.table }))).Count).toBe(0)
  } finally {
    await Promise.all([one.stop(), other.stop()])
  }
})
