import { expect, test } from 'vitest'
import { table } from '../../infra/stack/data.ts'
import { tableDefinition, timeToLiveAttribute } from './dynamodb.ts'

test('the test table has the deployed definition', () =>
  expect(table.Properties).toMatchObject({
    ...tableDefinition,
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    TimeToLiveSpecification: { AttributeName: timeToLiveAttribute, Enabled: true },
  }))
