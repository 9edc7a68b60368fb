/** Tests `npm start -- --dynamodb URL`: the bundles as they are deployed keep the table in the DynamoDB of that address. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { paginateScan } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { unmarshalItem } from '../../../lib/engine/storage/dynamodb/expressions.ts'
import { rowsOf } from '../../../lib/engine/storage/keys.ts'
import { startDynamoDB } from '../../support/dynamodb.ts'
import { accessKey, keys } from '../../support/objects.ts'
import { startedServer } from '../../support/startedserver.ts'

test('npm start keeps its table in a DynamoDB that it is given', async () => {
  await using stack = new AsyncDisposableStack()
  const dynamodb = stack.adopt(await startDynamoDB(), (one) => one.stop())
  const server = stack.adopt(await startedServer({ AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint }), (one) => one.stop())
  const { status } = await server.call(keys, { method: 'POST', body: accessKey('kept', { user: 'alice' }) })
  const rows: string[] = []
  for await (const { Items = [] } of paginateScan({ client: dynamodb.client }, { TableName: 'keyplane-Table' })) {
    const items = Items.map(unmarshalItem)
    rows.push(...items.filter(({ pk }) => pk === rowsOf('ownedaccesskeys')).map(({ sk }) => sk))
  }
  expect([status, rows.includes('kept'), existsSync(join(server.folder, 'table.db'))]).toEqual([201, true, false])
})
