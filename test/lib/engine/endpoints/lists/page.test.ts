/** Tests what the error of an expired list reveals. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StoredCall } from '../../../../../lib/engine/endpoints/call.ts'
import { openCollection } from '../../../../../lib/engine/endpoints/lists/page.ts'
import { selectionOf } from '../../../../../lib/engine/endpoints/lists/selection.ts'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import type { KubeObject } from '../../../../../lib/engine/meta/types.ts'
import { createObject } from '../../../../../lib/engine/registry/create.ts'
import { storageOver } from '../../../../../lib/engine/storage/protocol/storage.ts'
import { OwnedAccessKey } from '../../../../../lib/keys/ownedaccesskey.ts'
import { startDeployment, type TestDeployment } from '../../../../support/deployment.ts'
import { accessKey } from '../../../../support/objects.ts'
import { admin, contextOf } from '../../../../support/users.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

const context = contextOf(admin)
const dayMs = 86_400_000

// The client has seen the key in a token that it sent. It has not seen where the pages of an unlimited list begin.
test('a list names the next object in a 410 only if the client sent a continue token', async () => {
  const store = deployment.parts.storeOf(OwnedAccessKey)
  const make = (name: string) =>
    createObject(store, { object: accessKey(name, { user: 'bob' }) as KubeObject, secrets: [] }, context)
  for (const name of ['one', 'three', 'two']) await make(name)
  let now = Date.now
  const options = { now: () => now(), random: Math.random, sleep: async () => {}, elapsed: () => performance.now() }
  const storage = storageOver(deployment.store.items(), options)
  const call = { kind: store.kind, store: { ...store, storage }, request: { namespace: '' } } as unknown as StoredCall
  const selection = selectionOf(store.kind, { labels: [], fields: [] })
  const { pages, rv } = await openCollection(call, context, {
    verb: 'deletecollection',
    selection,
    start: {},
    limit: 0,
    pageSize: 1,
  })
  const reading = (pages as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  await reading.next()
  await make('four')
  await storage.sweep(store.kind.table)
  now = () => Date.now() + 2 * dayMs
  const unlimited = await reading.next().catch((error: unknown) => error)
  expect([unlimited instanceof StatusError, unlimited]).toMatchObject([false, { code: 'Expired' }])
  const start = { after: 'one', at: rv }
  const limited = openCollection(call, context, { verb: 'list', selection, start, limit: 1, pageSize: 1 })
  await expect(limited).rejects.toMatchObject({ status: { code: 410, metadata: { continue: expect.any(String) } } })
})
