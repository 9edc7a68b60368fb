import { readFile } from 'node:fs/promises'
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { startDynamoDB, tableDefinition, timeToLiveAttribute } from './dynamodb.ts'

test('the test table has the deployed definition', async () => {
  const template = await readFile(new URL('../../infra/table.yml', import.meta.url), 'utf8')
  const { Properties } = (load(template.replaceAll('!Ref', '')) as { Resources: { Table: { Properties: unknown } } })
    .Resources.Table
  expect(Properties).toMatchObject({
    ...tableDefinition,
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    TimeToLiveSpecification: { AttributeName: timeToLiveAttribute, Enabled: true },
  })
})

test('each start creates an empty table', async () => {
  const [one, other] = await Promise.all([startDynamoDB(), startDynamoDB()])
  try {
    await one.client.send(new PutItemCommand({ TableName: one.table, Item: { pk: { S: 'a' }, sk: { S: 'b' } } }))
    expect((await one.connect().send(new ScanCommand({ TableName: one.table }))).Count).toBe(1)
    expect((await other.client.send(new ScanCommand({ TableName: other.table }))).Count).toBe(0)
  } finally {
    await Promise.all([one.stop(), other.stop()])
  }
})
