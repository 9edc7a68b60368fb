import { expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { accessKeys, callsOf } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)

// Lambda responses are limited to 6 MB, but the client must still learn the result.
test('deletes more objects than a response can contain', async () => {
  const names = ['large-a', 'large-b', 'large-c', 'large-d', 'large-e']
  const spec = { user: 'alice', description: 'x'.repeat(1.4 * 1024 * 1024) }
  for (const name of names) await make({ name, labels: { large: 'yes' } }, spec)
  const { status, json } = await call('deletecollection', { query: { labelSelector: 'large' }, body: null })
  expect([status, json.kind, json.status]).toEqual([200, 'Status', 'Success'])
  expect(json.details).toEqual({ group: 'management.platform', kind: 'ownedaccesskeys' })
  const left = await Promise.all(names.map(async (name) => (await read(name)).code))
  expect(left).toEqual([404, 404, 404, 404, 404])
})
