import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type AttributeValue, BatchWriteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { expect, test } from 'vitest'
import { rowsOf } from '../../../lib/engine/storage/keys.ts'
import { encodeUser } from '../../../lib/keys/requests/encodeuser.ts'
import { useFunctions } from '../../support/functions.ts'
import { admin } from '../../support/users.ts'
import { accessKeys, callsOf } from '../stored/fixtures.ts'
import type { Form, Listed, Task } from './lister.ts'

const functions = useFunctions()
const { call, make } = callsOf(functions, accessKeys)

/** 28 MB of text, more than the free memory of the process. They deflate to less than 100 KB in the table. */
const count = 20
const characters = 1.4 * 1024 * 1024
const heapMegabytes = 44

/** Copies the row of an object under other names. */
async function copyRow(name: string): Promise<void> {
  const { client, table: TableName } = functions.get().store.dynamodb
  const key = { pk: { S: rowsOf('ownedaccesskeys') }, sk: { S: name } }
  const { Item = {} } = await client.send(new GetItemCommand({ TableName, Key: key }))
  const copies = Array.from({ length: count - 1 }, (_, index) => ({ ...Item, sk: { S: `${name}-${index}` } }))
  while (copies.length > 0) {
    const requests = copies.splice(0, 25).map((one: Record<string, AttributeValue>) => ({ PutRequest: { Item: one } }))
    await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }))
  }
}

/**
 * Returns the responses of a process with little memory. They are fewer than the forms if it crashed. The last one may arrive after the
 * exit.
 */
async function listForms(task: Task): Promise<Listed[]> {
  const child = fork(new URL('lister.ts', import.meta.url), {
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const answers: Listed[] = []
  child.on('message', (answer) => answers.push(answer as Listed))
  child.send(task)
  await once(child, 'close')
  return answers
}

const accept = (form: string) => ({ accept: `application/json;as=${form};v=v1;g=meta.k8s.io` })
const forms: Record<string, Form> = {
  'a page': { headers: {}, query: { limit: '500' } },
  'all of them': { headers: {}, query: {} },
  selected: { headers: {}, query: { fieldSelector: 'spec.team!=red' } },
  indented: { headers: {}, query: { pretty: 'true' } },
  'rows with their objects': { headers: accept('Table'), query: { includeObject: 'Object' } },
  'the first events of a watch': { headers: {}, query: { watch: 'true', timeoutSeconds: '1' } },
  YAML: { headers: { accept: 'application/yaml' }, query: {} },
}

// threat: gateway-12
test('lists many large keys in little memory', async () => {
  const { metadata } = await make({ name: 'large' }, { user: 'alice', description: 'x'.repeat(characters) })
  await copyRow('large')
  // A list that takes longer than ten seconds looks whether its key still exists.
  const { user } = encodeUser({ ...admin, key: { ...admin.key, name: 'large', uid: metadata.uid, generation: 1 } })
  const answers = await listForms({ user, forms: Object.values(forms) })
  const found = Object.keys(forms).map((form, index) => {
    const { status, bytes = 0 } = answers[index] ?? {}
    return { form, status, isWhole: bytes > count * characters }
  })
  expect(found).toEqual(found.map(({ form }) => ({ form, status: 200, isWhole: true })))
})

test('lists the metadata of many large keys', async () => {
  const { text, json } = await call('list', { headers: accept('PartialObjectMetadataList') })
  expect(json.items).toHaveLength(count)
  expect(text).not.toContain('xxx')
})
