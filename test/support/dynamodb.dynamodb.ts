import { readFile } from 'node:fs/promises'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { tableDefinition, timeToLiveAttribute } from './dynamodb.ts'

test('the test table has the deployed definition', async () => {
  const template = await readFile(new URL('../../infra/template/table.yml', import.meta.url), 'utf8')
  const { Properties } = (load(template.replace(/![A-Z]\w+/g, '')) as { Resources: { Table: { Properties: unknown } } })
    .Resources.Table
  expect(Properties).toMatchObject({
    ...tableDefinition,
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    TimeToLiveSpecification: { AttributeName: timeToLiveAttribute, Enabled: true },
  })
})
