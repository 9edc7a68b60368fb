/** Runs concurrent clients in real time over the embedded DynamoDB, with an unreliable client and with killed processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type DynamoDBClient, ScanCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Item } from '../../../lib/storage/items.ts'
import { revOf } from '../../../lib/storage/keys.ts'
import { readSlot } from '../../../lib/storage/records.ts'
import { unhurried } from '../../support/deadlines.ts'
import { startDynamoDB, type TestDynamoDB } from '../../support/dynamodb.ts'
import { createStorage } from '../../support/storage.ts'
import { judge, type Written } from './adversary/oracle.ts'
import { gather, plain } from './adversary/schedule.ts'
import { randomFrom, type Simulation } from './adversary/simulation.ts'
import type { Recorded } from './adversary/table.ts'
import { widgets } from './fixtures.ts'

let db: TestDynamoDB
beforeEach(async () => {
  db = await startDynamoDB()
})
afterEach(() => db.stop())

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const storageOf = (client: DynamoDBClient) =>
  createStorage({
    client,
    table: db.table,
    now: Date.now,
    elapsed: () => performance.now(),
    random: Math.random,
    sleep,
  })

/** Real time, and randomness from a seed. */
function realWorld(seed: number): Simulation {
  const random = randomFrom(seed)
  return {
    random,
    chance: (probability) => random() < probability,
    between: (low, high) => low + random() * (high - low),
    pick: <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T,
    now: () => performance.now(),
    after: (ms, run) => void setTimeout(run, ms),
    run: async () => {},
  }
}

/** A client some of whose requests are throttled, lost or unanswered. */
function unreliable(random: () => number): DynamoDBClient {
  const client = db.connect({ maxAttempts: 1 })
  const reset = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const chance = random()
        if (commandName === 'TransactWriteItemsCommand' && chance < 0.05) {
          const reasons = [{ Code: 'TransactionConflict' }]
          throw new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons: reasons })
        }
        if (chance < 0.07) throw reset()
        const result = await next(args)
        if (chance < 0.1) throw reset()
        return result
      },
    { step: 'finalizeRequest', priority: 'low', name: 'unreliable' },
  )
  return client
}

/** Reads the whole table: the log in the form of the oracle, and the rows. */
async function readEvidence(written: readonly Written[]) {
  const truth = new Map<string, Item>()
  const log = new Map<number, Recorded>()
  const deletes = new Map(
    written.flatMap(({ kind, outcome }, index) =>
      kind === 'delete' && outcome.type === 'acknowledged' ? [[outcome.rv, index] as const] : [],
    ),
  )
  let start: ScanCommand['input']['ExclusiveStartKey']
  do {
    const page = await db.client.send(new ScanCommand({ TableName: db.table, ExclusiveStartKey: start }))
    for (const one of page.Items ?? []) {
      const item = unmarshall(one) as Item
      truth.set(`${item.pk}\n${item.sk}`, item)
      if (!item.pk.includes('#log#')) continue
      const { state, rev } = readSlot(item)
      const spec = state && JSON.parse(String(state.object)).spec
      log.set(revOf(item), { item, at: 0, write: spec?.write ?? deletes.get(rev) })
    }
    start = page.LastEvaluatedKey
  } while (start)
  return { log, truth }
}

test('16 writers, listers and watchers agree with the log', async () => {
  const world = realWorld(1)
  const profile = { ...plain, writers: 16, writes: 10, keys: ['a', 'b', 'c', 'n/a', 'n/b', 'n-m/a'] }
  const client = unreliable(world.random)
  const { run, violations, crowd } = gather(world, profile, () => storageOf(client))
  while (crowd.size > 0) await sleep(20)
  // Wait for requests in flight of the processes that died.
  await sleep(200)
  const { log, truth } = await readEvidence(run.written)
  expect([...violations, ...judge({ ...run, log, truth })]).toEqual([])
  expect(run.written.filter(({ outcome }) => outcome.type === 'acknowledged').length).toBeGreaterThan(40)
})

test('32 writers of one object all succeed, one after another', async () => {
  // Time does not run out: each round has one winner.
  const storage = createStorage({
    client: db.client,
    table: db.table,
    now: Date.now,
    elapsed: () => 0,
    random: Math.random,
    sleep,
  })
  const add = () =>
    storage.update(
      widgets,
      'one',
      (current) => ({
        type: 'put',
        object: {
          apiVersion: 'v1',
          kind: 'Widget',
          metadata: { name: 'one' },
          spec: { count: Number(current?.object.spec?.count ?? 0) + 1 },
        },
        internal: {},
      }),
      unhurried,
    )
  const results = await Promise.all(Array.from({ length: 32 }, add))
  expect(new Set(results.map(({ rv }) => rv)).size).toBe(32)
  expect((await storage.get(widgets, 'one'))?.object.spec).toEqual({ count: 32 })
  const { changes } = await storage.changes(widgets, 1)
  expect(changes.map(({ stored }) => stored.object.spec?.count)).toEqual(Array.from({ length: 32 }, (_, i) => i + 1))
})

/** A writer in its own process, which reports before and after each call and waits for a line to continue. */
function startWriter(): { child: ChildProcess; lines: AsyncIterator<string>; go(): void } {
  const child = spawn(process.execPath, [fileURLToPath(new URL('writer.ts', import.meta.url)), db.endpoint, db.table], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  async function* read() {
    let text = ''
    for await (const chunk of child.stdout ?? []) {
      text += chunk
      const parts = text.split('\n')
      text = parts.pop() ?? ''
      yield* parts
    }
  }
  return { child, lines: read(), go: () => void child.stdin?.write('\n') }
}

test('a writer killed between any two calls leaves all or nothing, and blocks nobody', async () => {
  const storage = storageOf(db.client)
  for (let steps = 1; ; steps++) {
    const writer = startWriter()
    const ended = once(writer.child, 'exit')
    let line = ''
    for (let step = 0; step < steps; step++) {
      line = (await writer.lines.next()).value ?? 'end'
      if (line === 'end') break
      if (step < steps - 1) writer.go()
    }
    writer.child.kill('SIGKILL')
    await ended
    const before = (await storage.list(widgets, {})).items.find(({ key }) => key === 'one')
    const isCommitted = before?.read().object.spec?.in === 'child'
    expect(isCommitted, line).toBe(line === 'after TransactWriteItemsCommand' || line === 'end')
    // Other clients can still write and list.
    await storage.update(
      widgets,
      'one',
      (current) => {
        expect(current?.rv).toBe(before?.rv)
        return current ? { type: 'delete' } : { type: 'none' }
      },
      unhurried,
    )
    await storage.create(
      widgets,
      `other-${steps}`,
      () => ({
        type: 'put',
        object: { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'x' }, spec: {} },
        internal: {},
      }),
      unhurried,
    )
    expect((await storage.list(widgets, {})).items.length).toBe(steps)
    if (line === 'end') break
  }
  const { log, truth } = await readEvidence([])
  expect(judge({ log, truth, written: [], listed: [], watched: [] })).toEqual([])
})
