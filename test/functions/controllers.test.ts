/** Tests the handlers of the controllers: they take events, write one log line and return failed records. */
import type { DynamoDBStreamEvent } from 'aws-lambda'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleEvent } from '../../events/sample.ts'
import { internalContext } from '../../lib/access/users/internalcontext.ts'
import type { ObjectMeta } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import { streamedWrites } from '../../lib/engine/storage/dynamodb/stream.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { type sweepHandler as expirySweep, garbageCollectorHandler } from '../../lib/server/controllers.ts'
import { endless } from '../support/deadlines.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'

let deployment: TestDeployment
let collect: ReturnType<typeof garbageCollectorHandler>
let sweep: ReturnType<typeof expirySweep>
let scheduled: object
let changes: DynamoDBStreamEvent

beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com', { KEY_RETENTION_SECONDS: '0' })
  collect = (await import('../../functions/garbagecollector.ts')).handler
  sweep = (await import('../../functions/sweep.ts')).handler
  scheduled = sampleEvent('sweep')
  changes = sampleEvent('garbagecollector')
})
afterAll(() => deployment?.stop())

const invocation = (remaining = 300_000) => ({ getRemainingTimeInMillis: () => remaining })
let seen = 0
/** Returns what was logged since the last call. */
function lines(): object[] {
  const found = deployment.log.slice(seen).map((line): object => JSON.parse(line))
  seen += found.length
  return found
}

async function make(
  name: string,
  { spec = {}, now = new Date(), ...metadata }: Partial<ObjectMeta> & { spec?: object; now?: Date },
) {
  const store = deployment.parts.storeOf(OwnedAccessKey)
  const object = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata: { ...metadata, name } }
  await createObject(
    store,
    { object: { ...object, spec: { ...spec } }, secrets: [] },
    internalContext('system:controller:test', now, endless),
  )
}
const find = (name: string) => deployment.parts.storage.get(OwnedAccessKey.table, name)
const ghost = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', name: 'x', uid: 'no-such-uid' }

test('a scheduled run collects and logs its work, and logs nothing if there was none', async () => {
  await make('orphaned', { ownerReferences: [ghost] })
  expect(await collect(scheduled, invocation())).toBeUndefined()
  expect(await find('orphaned')).toBeUndefined()
  expect(lines()).toMatchObject([
    { level: 'info', message: 'garbage collection', source: 'schedule', read: 1, deleted: 1, failed: 0 },
  ])
  await collect(scheduled, invocation())
  expect(lines()).toEqual([])
})

test('a run for the stream of a driver returns the records to retry', async () => {
  const collect = garbageCollectorHandler(streamedWrites)
  expect(await collect(changes, invocation())).toEqual({ batchItemFailures: [] })
  expect(lines()).toMatchObject([{ level: 'info', source: 'stream', records: 1, tasks: 1, failed: 0 }])
  expect(await collect(changes, invocation(1000))).toEqual({
    batchItemFailures: [{ itemIdentifier: changes.Records[0]?.dynamodb?.SequenceNumber }],
  })
  expect(lines()).toMatchObject([{ level: 'error', failed: 1, error: expect.stringContaining('OutOfTime') }])
})

test('the sweep logs how many keys it read, deleted, kept and left', async () => {
  await make('over', { spec: { ttl: 60 }, now: new Date(Date.now() - 120_000) })
  await make('living', { spec: { ttl: 3600 } })
  await sweep(scheduled, invocation(1000))
  const left = { level: 'info', message: 'expiry sweep', seen: 1, deleted: 0, kept: 0, failed: 0, remaining: true }
  expect(lines()).toMatchObject([left])
  await sweep(scheduled, invocation())
  expect(lines()).toMatchObject([{ ...left, deleted: 1, remaining: false }])
  expect([await find('over'), (await find('living'))?.key]).toEqual([undefined, 'living'])
})
