/** Tests both buses: EventBridge, which an emulator speaks for, and that of this process. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { expect, onTestFinished, test } from 'vitest'
import { openLocalBus } from '../../../../infra/local/aws/eventbus.ts'
import { eventBridgeBus } from '../../../../lib/keys/events/eventbridge.ts'
import type { Bus } from '../../../../lib/keys/events/publish.ts'
import { credentials, region, startAws } from '../../../support/aws.ts'

async function emulated(): Promise<{ bus: Bus; published: string[] }> {
  const { url, published, stop } = await startAws()
  const client = new EventBridgeClient({ endpoint: url, region, credentials, maxAttempts: 1 })
  onTestFinished(async () => {
    client.destroy()
    await stop()
  })
  return { bus: eventBridgeBus('default', async () => client), published }
}

async function local(): Promise<{ bus: Bus; published: string[] }> {
  const published: string[] = []
  return { bus: await openLocalBus(undefined, (detail) => void published.push(detail)), published }
}

const good = { source: 'keyplane', detailType: 'created', detail: '{}' }

test.each([
  ['EventBridge', emulated],
  ['this process', local],
])('the bus of %s publishes entries in their order', async (_, open) => {
  const { bus, published } = await open()
  expect(await bus.put([good, { ...good, detail: '{"a":1}' }])).toEqual([undefined, undefined])
  expect(published).toEqual(['{}', '{"a":1}'])
})

test('the publisher learns which entries EventBridge refused', async () => {
  const { bus, published } = await emulated()
  expect(await bus.put([good, { ...good, detail: 'no' }, good])).toEqual([undefined, 'MalformedDetail', undefined])
  expect(published).toEqual(['{}', '{}'])
})

test('an entry without an answer counts as refused', async () => {
  const silent = { send: async () => ({ FailedEntryCount: 0, Entries: [{ EventId: 'a' }] }) }
  const bus = eventBridgeBus('default', async () => silent as never)
  expect(await bus.put([good, good])).toEqual([undefined, 'NoAnswer'])
})

test('a call that one entry makes invalid refuses each of them, any other failure is one of the call', async () => {
  const failing = (name: string) => ({ send: () => Promise.reject(Object.assign(new Error('no'), { name })) })
  const busWith = (name: string) => eventBridgeBus('default', async () => failing(name) as never)
  expect(await busWith('ValidationException').put([good, good])).toEqual(['ValidationException', 'ValidationException'])
  await expect(busWith('TimeoutError').put([good])).rejects.toThrow('no')
})
