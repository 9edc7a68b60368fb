/** Runs concurrent clients in real time over an emulator of DynamoDB, also with killed processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { itemsIn } from '../../../../lib/engine/storage/dynamodb/dynamodb.ts'
import type { Item } from '../../../../lib/engine/storage/items.ts'
import { revOf } from '../../../../lib/engine/storage/keys.ts'
import { storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import { unhurried } from '../../../support/deadlines.ts'
import { startDynamoDB, type TestDynamoDB } from '../../../support/dynamodb.ts'
import { storageIn } from '../../../support/store.ts'
import { judge } from './adversary/oracle.ts'
import type { Recorded } from './adversary/table.ts'
import { widgets } from './fixtures.ts'

let db: TestDynamoDB
beforeEach(async () => {
  db = await startDynamoDB()
})
afterEach(() => db.stop())

/** Reads the whole table: the log in the form of the oracle, and the rows. */
async function readEvidence() {
  const truth = new Map<string, Item>()
  const log = new Map<number, Recorded>()
  let start: ScanCommand['input']['ExclusiveStartKey']
  do {
    const page = await db.client.send(new ScanCommand({ TableName: db.table, ExclusiveStartKey: start }))
    for (const one of page.Items ?? []) {
      const item = unmarshall(one) as Item
      truth.set(`${item.pk}\n${item.sk}`, item)
      if (!item.pk.includes('#log#')) continue
      log.set(revOf(item), { item, at: 0, write: undefined })
    }
    start = page.LastEvaluatedKey
  } while (start)
  return { log, truth }
}

test('32 writers of one object all succeed, one after another', async () => {
  // Time does not run out: each round has one winner.
  const storage = storageOver(itemsIn(db.client, db.table, Date.now), {
    now: Date.now,
    elapsed: () => 0,
    random: Math.random,
    sleep: (ms) => delay(ms),
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
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), db.endpoint, db.table], {
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

// threat: storage-6
test('a writer killed between any two calls leaves all or nothing, and blocks nobody', async () => {
  const storage = storageIn(itemsIn(db.client, db.table, Date.now))
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
    await storage.update(
      widgets,
      `other-${steps}`,
      () => ({
        type: 'put',
        object: { apiVersion: 'v1', kind: 'Widget', metadata: { name: 'x' }, spec: {} },
        internal: {},
      }),
      { ...unhurried, isNew: true },
    )
    expect((await storage.list(widgets, {})).items.length).toBe(steps)
    if (line === 'end') break
  }
  const { log, truth } = await readEvidence()
  expect(judge({ log, truth, written: [], listed: [], watched: [] })).toEqual([])
})
