import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import { expect, onTestFinished, test } from 'vitest'
import { startEventBridge } from '../../../../infra/local/aws/eventbridge.ts'
import { createVerifier } from '../../../../infra/local/aws/sigv4.ts'
import { eventBridgeBus } from '../../../../lib/events/eventbridge.ts'
import { credentials, region } from '../../../support/aws.ts'

const entry = (more: Partial<PutEventsRequestEntry> = {}): PutEventsRequestEntry => {
  return { Source: 'keyplane', DetailType: 'created', Detail: '{ "a": 1 }', ...more }
}

/** The endpoint, what it has received, and a client of it. */
async function start(path?: string) {
  const received: string[] = []
  const verify = createVerifier({ credentials, region, now: Date.now })
  const push = (detail: string) => void received.push(detail)
  const endpoint = await startEventBridge({ verify, received: push, ...(path !== undefined && { path }) })
  const client = new EventBridgeClient({ endpoint: endpoint.url, region, credentials, maxAttempts: 1 })
  onTestFinished(async () => {
    client.destroy()
    await endpoint.close()
  })
  return {
    received,
    client,
    put: (...Entries: PutEventsRequestEntry[]) => client.send(new PutEventsCommand({ Entries })),
  }
}

test('accepts events and appends each as one line of a private file', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'keyplane-events-')), 'events.jsonl')
  await writeFile(path, '{"old":true}\n', { mode: 0o644 })
  const { put, received } = await start(path)
  const { FailedEntryCount, Entries } = await put(entry(), entry({ Detail: '{"text":"a\\nb"}' }))
  expect(FailedEntryCount).toBe(0)
  expect(Entries).toEqual([{ EventId: expect.any(String) }, { EventId: expect.any(String) }])
  expect(received).toEqual(['{"a":1}', '{"text":"a\\nb"}'])
  expect(await readFile(path, 'utf8')).toBe('{"old":true}\n{"a":1}\n{"text":"a\\nb"}\n')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

/** Puts events of 600 bytes until the first one is refused, and prints the refusal. */
const filling = `
  import { startEventBridge } from ${JSON.stringify(new URL('../../../../infra/local/aws/eventbridge.ts', import.meta.url).href)}
  const { url } = await startEventBridge({ path: process.argv[1], verify: async () => {}, received() {} })
  const body = JSON.stringify({ Entries: [{ Source: 's', DetailType: 'd', Detail: JSON.stringify({ text: 'x'.repeat(600) }) }] })
  for (let answer = '{}'; ; answer = await (await fetch(url, { method: 'POST', headers: { 'x-amz-target': 'AWSEvents.PutEvents' }, body })).text()) {
    const { __type: type } = JSON.parse(answer)
    if (type) process.exit(process.stdout.write(type) ? 0 : 1)
  }
`

test.skipIf(process.platform === 'win32')(
  'an event for which there is no room is refused, and no part of it is kept',
  async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'keyplane-events-')), 'events.jsonl')
    const limited = ['-c', 'ulimit -f 4; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', filling, path]
    expect(execFileSync('sh', limited, { encoding: 'utf8' })).toBe('LimitExceededException')
    const lines = (await readFile(path, 'utf8')).split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line).text.length)).toEqual(lines.map(() => 600))
  },
)

test.each([
  ['no source', { Source: '' }, 'InvalidArgument'],
  ['no type', { DetailType: '' }, 'InvalidArgument'],
  ['a detail that is no JSON', { Detail: 'text' }, 'MalformedDetail'],
  ['a detail that is no object', { Detail: '[1]' }, 'MalformedDetail'],
])('refuses an entry with %s, and accepts the others', async (_, wrong, ErrorCode) => {
  const { put, received } = await start()
  const { FailedEntryCount, Entries } = await put(entry(wrong), entry())
  expect([FailedEntryCount, Entries?.[0]?.ErrorCode, Entries?.[1]?.EventId]).toEqual([1, ErrorCode, expect.any(String)])
  expect(received).toHaveLength(1)
})

test('refuses a call with no entries, with too many, or too large', async () => {
  const { put, received } = await start()
  const refused = { name: 'ValidationException' }
  await expect(put()).rejects.toMatchObject(refused)
  await expect(put(...Array.from({ length: 11 }, () => entry()))).rejects.toMatchObject(refused)
  const large = entry({ Detail: JSON.stringify({ text: 'x'.repeat(150_000) }) })
  await expect(put(large, large)).rejects.toMatchObject(refused)
  expect(received).toEqual([])
})

const good = { source: 'keyplane', detailType: 'created', detail: '{}' }

test('is a bus for the publisher of events, which learns which entries were refused', async () => {
  const { client, received } = await start()
  const bus = eventBridgeBus('default', async () => client)
  expect(await bus.put([good, { ...good, detail: 'no' }, good])).toEqual([undefined, 'MalformedDetail', undefined])
  expect(received).toEqual(['{}', '{}'])
})

test('an entry without an answer counts as refused', async () => {
  const silent = { send: async () => ({ FailedEntryCount: 0, Entries: [{ EventId: 'a' }] }) }
  const bus = eventBridgeBus('default', async () => silent as never)
  expect(await bus.put([good, good])).toEqual([undefined, 'NoAnswer'])
})

test('a call that one entry makes invalid refuses each of them, any other failure is one of the call', async () => {
  const failing = (name: string) => ({ send: () => Promise.reject(Object.assign(new Error('no'), { name })) })
  const busWith = (name: string) => eventBridgeBus('default', async () => failing(name) as never)
  const good = { source: 'keyplane', detailType: 'created', detail: '{}' }
  expect(await busWith('ValidationException').put([good, good])).toEqual(['ValidationException', 'ValidationException'])
  await expect(busWith('TimeoutError').put([good])).rejects.toThrow('no')
})
