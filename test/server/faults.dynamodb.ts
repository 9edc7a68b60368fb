/**
 * Tests the whole API while a fifth of all SDK calls to the table fails in every way under 32 writers. Answers must be true.
 * Without an answer, clients must be able to find out what happened.
 */
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import { itemsIn } from '../../lib/engine/storage/dynamodb/dynamodb.ts'
import type { Change, Storage, Table } from '../../lib/engine/storage/interface.ts'
import { revOf } from '../../lib/engine/storage/keys.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { randomFrom } from '../lib/engine/storage/adversary/simulation.ts'
import type { Fault } from '../support/badnetwork.ts'
import { useBadNetwork } from '../support/badserver.ts'
import { seed } from '../support/effort.ts'
import { startReflector } from '../support/reflector.ts'
import type { Answer } from '../support/request.ts'
import { rotatingOn } from '../support/rotation.ts'
import { storageIn } from '../support/store.ts'
import { gather, path } from './faults/crowd.ts'
import { judgeChains, judgeList, judgeWatch, judgeWrites, type Listed } from './faults/judgement.ts'

const random = randomFrom(seed)
const { table } = OwnedAccessKey

const { server, network, dynamodb, clear } = useBadNetwork(random)
/** A connection without faults. */
let storage: Storage
beforeAll(() => {
  storage = storageIn(itemsIn(dynamodb.client, server.store.dynamodb.table, Date.now))
})

const kinds: readonly Fault[] = ['throttled', 'lost', 'unanswered', 'conflict', 'broken']
/** Late calls are few, because each costs seconds. */
const everything: readonly Fault[] = [...Array.from({ length: 10 }, () => kinds).flat(), 'late']

async function logOf({ resource }: Pick<Table, 'resource'>): Promise<{ changes: Change[]; revisions: number[] }> {
  const changes: Change[] = []
  for (let rv = 1; ; ) {
    const batch = await storage.changes(table, rv)
    changes.push(...batch.changes)
    if (batch.rv === rv) break
    rv = batch.rv
  }
  const revisions: number[] = []
  let start: ScanCommand['input']['ExclusiveStartKey']
  do {
    const { Items = [], LastEvaluatedKey } = await dynamodb.client.send(
      new ScanCommand({
        TableName: server.store.dynamodb.table,
        ExclusiveStartKey: start,
        ProjectionExpression: 'pk, sk',
      }),
    )
    for (const { pk, sk } of Items) {
      if (pk?.S?.startsWith(`${resource}#log#`)) revisions.push(revOf({ pk: pk.S, sk: sk?.S ?? '' }))
    }
    start = LastEvaluatedKey
  } while (start)
  return { changes, revisions: revisions.sort((one, other) => one - other) }
}

/** Returns the error that clients know for a request that was abandoned. */
function expectStatus({ status, headers, json }: Answer): void {
  if (status < 300) return
  expect(json, `${status}`).toMatchObject({ kind: 'Status', status: 'Failure', code: status })
  expect([404, 409, 429, 503, 504]).toContain(status)
  if (status < 429) return
  expect(json.details?.retryAfterSeconds).toBeGreaterThan(0)
  expect(headers['retry-after']).toBe(status === 504 ? undefined : String(json.details.retryAfterSeconds))
}

async function listWith(newest: () => number, limit: number): Promise<Listed | undefined> {
  const after = newest()
  const items: string[] = []
  let rv = 0
  for (let token = ''; ; ) {
    const query = new URLSearchParams({ ...(limit && { limit: String(limit) }), ...(token && { continue: token }) })
    const answer = await server.call(`${path}?${query}`)
    expectStatus(answer)
    if (answer.status !== 200) return undefined
    const { metadata, items: page } = answer.json
    rv = Number(metadata.resourceVersion)
    items.push(...page.map(({ metadata: { name, resourceVersion } }: Answer['json']) => `${name}@${resourceVersion}`))
    token = metadata.continue ?? ''
    if (!token) return { after, rv, items }
  }
}

test(`a fifth of all calls fails while 32 write, list and watch (seed ${seed})`, async () => {
  const shared = ['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']
  const { wrote, newest, writer } = gather(server, random, shared)
  network.weather = { share: 0.2, faults: everything }
  const watchers = await Promise.all(
    [2, 3, 600].map((timeoutSeconds) => startReflector(server, path, { timeoutSeconds })),
  )
  const from = watchers.map((one) => Number(one.resourceVersion()))
  const listed: Listed[] = []
  let isWriting = true
  const lister = async (limit: number): Promise<void> => {
    while (isWriting) listed.push(...[(await listWith(newest, limit)) ?? []].flat())
  }
  const listers = [lister(0), lister(7)]
  const successes = () => wrote.filter(({ answer }) => answer.status < 300).length
  // On a slow machine more calls time out, and fewer of the first writes succeed.
  const isShort = () => successes() <= 50
  await Promise.all(Array.from({ length: 32 }, (_, number) => writer(number, 4, isShort)))
  isWriting = false
  await Promise.all(listers)
  clear()
  const last = await server.post(path, {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: { name: 'last' },
    spec: {},
  })
  expect(last.status).toBe(201)
  await Promise.all(watchers.map((one) => one.until(() => one.store.has('last'))))
  await Promise.all(watchers.map((one) => one.stop()))
  const end = await listWith(newest, 0)
  const { changes, revisions } = await logOf(table)

  for (const { answer } of wrote) expectStatus(answer)
  expect(judgeWrites(wrote, changes)).toEqual([])
  expect(judgeChains(changes)).toEqual([])
  expect([end, ...listed].flatMap((one) => (one ? judgeList(one, changes) : ['no list']))).toEqual([])
  expect(watchers.flatMap((one, index) => judgeWatch(from[index] ?? 0, one.seen, changes))).toEqual([])
  // Every revision from 2 to the newest exists once, because each has its own key in the table.
  expect(revisions).toEqual(
    Array.from({ length: Number(last.json.metadata.resourceVersion) - 1 }, (_, index) => index + 2),
  )
  // Failures are retried a limited number of times: two tries of the client, and a few of the store.
  expect(network.mostTries()).toBe(2)
  expect(Math.max(...callsOfRequests())).toBeLessThan(100)
  for (const fault of everything) expect(network.met.get(fault)).toBeGreaterThan(0)
  expect(successes()).toBeGreaterThan(50)
})

/** The calls to the table per request, counting each try. A watch makes more the longer it lasts. */
const callsOfRequests = (): number[] =>
  server.log
    .map((line) => JSON.parse(line))
    .flatMap(({ message, verb, storageCalls }) => (message === 'audit' && verb !== 'watch' ? [storageCalls] : []))

// threat: rotation-3
test('a rotation with a value of its own can be repeated until it succeeds, and a value works at any moment', async () => {
  const { rotate, use } = rotatingOn(() => server)
  /** Repeats a call in bad weather as a job does, at most 20 times. */
  async function insist(call: () => Promise<number>): Promise<number> {
    network.weather = { share: 0.3, faults: kinds }
    let status = 0
    for (let tries = 0; tries < 20 && status !== 201; tries++) status = await call()
    clear()
    return status
  }
  for (let round = 0; round < 12; round++) {
    const name = `rotating-${round}`
    const { spec } = await server.make(path, { metadata: { name }, spec: { user: 'alice' } })
    const next = `own-value-of-${name}`.padEnd(40, '.')
    const rotation = { key: next, overlapSeconds: 0 }
    expect(await insist(async () => (await rotate(name, rotation, { token: spec.key })).status)).toBe(201)
    expect((await use(spec.key))[0]).toBe(201)
    expect(await insist(async () => (await use(next))[0])).toBe(201)
    expect([(await use(next))[0], (await use(spec.key))[0]]).toEqual([201, 401])
  }
})
