/** Tests collections that are too large for one DELETE: the response, and that the next request continues. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClusterInstance } from '../../../../lib/clusters/virtualclusterinstance.ts'
import type { EndpointServices } from '../../../../lib/engine/endpoints/call.ts'
import { deleteCollectionHandler } from '../../../../lib/engine/endpoints/handlers/delete.ts'
import { createObject } from '../../../../lib/engine/registry/create.ts'
import { listObjects } from '../../../../lib/engine/registry/read.ts'
import type { Store } from '../../../../lib/engine/registry/store.ts'
import { startDeployment, type TestDeployment } from '../../../support/deployment.ts'
import { answer } from '../../../support/exchange.ts'
import { admin, contextOf } from '../../../support/users.ts'

let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
})
afterAll(() => deployment?.stop())

const context = contextOf(admin)
const store = () => deployment.parts.storeOf(VirtualClusterInstance)
let collections = 0

async function createCollection(count: number): Promise<string> {
  const collection = `c-${++collections}`
  for (let index = 0; index < count; index++) {
    const metadata = { name: `${collection}-${index}`, namespace: 'p-a', labels: { collection } }
    const object = { apiVersion: 'management.platform/v1', kind: 'VirtualClusterInstance', metadata, spec: {} }
    await createObject(store(), { object, secrets: [] }, context)
  }
  return collection
}

const countRemaining = async (collection: string): Promise<number> =>
  (await listObjects(store(), {}, 'list', context)).items.filter(({ key }) => key.startsWith(`p-a/${collection}-`))
    .length

/** Runs a DELETE whose time is over after starting on `objects` objects, with a key that is revoked after `lives` deletions. */
async function runDelete(
  collection: string,
  { objects = Number.POSITIVE_INFINITY, lives = Number.POSITIVE_INFINITY, query = {} } = {},
) {
  const { storage, ...rest } = store()
  let [began, done, underWay, most] = [0, 0, 0, 0]
  const counted: Store = {
    ...rest,
    storage: {
      ...storage,
      get(...key) {
        began++
        return storage.get(...key)
      },
      async update(...change) {
        began++
        underWay++
        most = Math.max(most, underWay)
        const result = await storage.update(...change)
        underWay--
        done++
        return result
      },
    },
  }
  const services: EndpointServices = {
    checkAllowed: async () => {},
    allowedGeneration: ({ user }) => user.key.generation,
    explain: () => [],
    watchLimits: { maxSeconds: 120, quietSeconds: 0 },
    currentGeneration: async () => (done < lives ? 1 : undefined),
    // Each deletion takes long enough for the key to be checked again.
    elapsed: () => done * 11_000,
    sleep: async () => {},
    every: () => () => {},
    openWatch: async () => ({ keep: async () => {}, close: async () => {} }),
  }
  const user = { ...admin, key: { ...admin.key, generation: 1 } }
  const asked = { store: counted, user, services, query: { labelSelector: `collection=${collection}`, ...query } }
  const { response, context } = await answer(deleteCollectionHandler, {
    ...asked,
    deadline: () => (began < objects ? 20_000 : 3_000),
  })
  return {
    status: response.status,
    headers: response.headers,
    json: JSON.parse(String(response.body)),
    done,
    most,
    notes: context.notes,
  }
}

describe('deletecollection', () => {
  test('deletes sixteen objects at a time', async () => {
    const collection = await createCollection(40)
    const { status, json, most, notes } = await runDelete(collection)
    expect([status, json.items.length, most]).toEqual([200, 40, 16])
    expect([notes.count, await countRemaining(collection)]).toEqual([40, 0])
  })

  // threat: gateway-18
  test('asks clients to repeat the request for a collection that is too large for one', async () => {
    const collection = await createCollection(50)
    const first = await runDelete(collection, { objects: 20 })
    const gone = 50 - (await countRemaining(collection))
    expect([first.status, first.headers['retry-after'], first.notes.count]).toEqual([429, '1', gone])
    expect(first.json).toMatchObject({
      reason: 'TooManyRequests',
      message: `the collection has more objects than one request can delete: ${gone} objects have been deleted, repeat it for the others`,
      details: { retryAfterSeconds: 1 },
    })
    expect(gone).toBeGreaterThanOrEqual(20)
    expect(gone).toBeLessThan(50)
    expect((await runDelete(collection, { objects: 10 })).status).toBe(429)
    const last = await runDelete(collection)
    expect([last.status, await countRemaining(collection)]).toEqual([200, 0])
  })

  // A repeated request would make no progress either.
  test.each([
    ['nothing could be deleted', { objects: 0 }],
    ['a dry run does not finish', { objects: 2, query: { dryRun: 'All' } }],
  ])('returns 504 without Retry-After when %s', async (_, options) => {
    const collection = await createCollection(20)
    const { status, headers } = await runDelete(collection, options)
    expect([status, headers['retry-after'], await countRemaining(collection)]).toEqual([504, undefined, 20])
  })

  // threat: gateway-18
  test('stops when its key is revoked', async () => {
    const collection = await createCollection(60)
    const { status, done, json } = await runDelete(collection, { lives: 10 })
    expect([status, json.message]).toEqual([
      401,
      'access key has been changed or deleted since the request was allowed',
    ])
    expect(done).toBeLessThan(10 + 2 * 16)
    expect(await countRemaining(collection)).toBe(60 - done)
  })

  test('deletes one page of the requested limit at a time, in the order of names', async () => {
    const collection = await createCollection(5)
    const { status, json } = await runDelete(collection, { query: { limit: '2' } })
    expect([status, json.items.length, await countRemaining(collection)]).toEqual([200, 2, 3])
    const next = await runDelete(collection, { query: { limit: '2', continue: json.metadata.continue } })
    expect([next.json.items.length, await countRemaining(collection)]).toEqual([2, 1])
  })
})
