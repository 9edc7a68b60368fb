/** Runs kubectl against the example of the engine, over a table of DynamoDB. */
import { afterAll } from 'vitest'
import { startDynamoDB, type TestDynamoDB } from '../../support/dynamodb.ts'
import { testExample } from './examplesuite.ts'

let db: TestDynamoDB | undefined
afterAll(() => db?.stop())

testExample(async () => {
  db = await startDynamoDB()
  const account = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
  return { ...account, AWS_ENDPOINT_URL_DYNAMODB: db.endpoint, TABLE_NAME: db.table }
})
