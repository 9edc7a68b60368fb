/** The process that concurrency.dynamodb.ts kills: makes one write and waits for a line of input at every step. */
import process, { argv, stdin, stdout } from 'node:process'
import { createInterface } from 'node:readline'
import { itemsIn } from '../../../../lib/engine/storage/dynamodb/dynamodb.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { connect } from '../../../support/dynamodb.ts'
import { storageIn } from '../../../support/store.ts'
import { widgets } from './fixtures.ts'

const [, , endpoint = '', table = ''] = argv
const input = createInterface({ input: stdin })[Symbol.asyncIterator]()
const client = connect(endpoint)

async function step(name: string): Promise<void> {
  stdout.write(`${name}\n`)
  await input.next()
}

client.middlewareStack.add(
  (next, { commandName }) =>
    async (args) => {
      await step(`before ${commandName}`)
      const result = await next(args)
      await step(`after ${commandName}`)
      return result
    },
  { step: 'finalizeRequest', priority: 'low', name: 'steps' },
)

await storageIn(itemsIn(client, table, Date.now)).update(
  widgets,
  'one',
  () => ({
    type: 'put',
    object: { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'one' }, spec: { in: 'child' } },
    internal: {},
  }),
  unhurried,
)
await step('end')
process.exit()
