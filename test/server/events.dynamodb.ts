/**
 * Compares the events that are published with what clients did to keys, on the deployed functions, while calls to the table
 * and to the bus fail in every way. Nothing may be missing, and repeats have the same ids.
 */

import { createServer, request as sendRequest } from 'node:http'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { applyEnvironment } from '../../infra/local/gateway/environment.ts'
import { type KeyEvent, kindOf } from '../../lib/keys/events/event.ts'
import { sweepExpired } from '../../lib/keys/expirysweep.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { lifecycleHandler } from '../../lib/server/lifecycle.ts'
import { createServer as createParts, type Server } from '../../lib/server/server.ts'
import { randomFrom } from '../lib/engine/storage/adversary/simulation.ts'
import { type BadNetwork, startBadNetwork } from '../support/badnetwork.ts'
import { endless } from '../support/deadlines.ts'
import { startDynamoDB, type TestDynamoDB } from '../support/dynamodb.ts'
import { seed } from '../support/effort.ts'
import { listening } from '../support/listening.ts'
import { accessKey, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

const random = randomFrom(seed)
const [minute, hour] = [60, 3600]

let dynamodb: TestDynamoDB
let network: BadNetwork
let bus: BadBus
let restore: () => void
let server: TestServer
let parts: Server
let run: () => Promise<void>

beforeAll(async () => {
  dynamodb = await startDynamoDB()
  network = await startBadNetwork(dynamodb.endpoint, random)
  bus = await startBadBus()
  restore = applyEnvironment({ AWS_ENDPOINT_URL_DYNAMODB: network.endpoint })
  // The stream's functions run when the test says so.
  server = await startServer({ AWS_ENDPOINT_URL_EVENTBRIDGE: bus.endpoint }, { unscheduled: true })
  bus.target = server.environment.AWS_ENDPOINT_URL_SECRETS_MANAGER ?? ''
  // From here on, the clock moves. Anyone who has a reference to it keeps the old one.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now(), shouldAdvanceTime: true })
  parts = createParts(process.env)
  const handler = lifecycleHandler()
  run = async () => void (await handler({}, { getRemainingTimeInMillis: () => 60_000 }))
})
afterAll(async () => {
  vi.useRealTimers()
  await server?.stop()
  await bus?.stop()
  restore?.()
  await network?.stop()
  await dynamodb?.stop()
})

interface BadBus {
  endpoint: string
  target: string
  /** The share of failing calls. */
  share: number
  met: Record<'lost' | 'unanswered' | 'broken' | 'none', number>
  stop(): Promise<void>
}

/** Puts EventBridge behind a proxy that loses calls before or after they take effect, or answers 500. */
async function startBadBus(): Promise<BadBus> {
  const faults = ['lost', 'unanswered', 'broken'] as const
  const proxy = createServer(async (incoming, outgoing) => {
    const fault = random() < bad.share ? (faults[Math.floor(random() * 3)] ?? 'lost') : 'none'
    bad.met[fault]++
    if (fault === 'lost') return void incoming.socket.destroy()
    if (fault === 'broken') return void outgoing.writeHead(500).end('{}')
    // With the Host that was signed.
    const { method = '', headers } = incoming
    const passedOn = sendRequest(bad.target, { method, headers }, (answer) => {
      if (fault === 'unanswered') return void incoming.socket.destroy()
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(outgoing)
    })
    passedOn.on('error', () => outgoing.destroy())
    incoming.pipe(passedOn)
  })
  const { url, stop } = await listening(proxy)
  const bad: BadBus = {
    endpoint: url,
    target: '',
    share: 0,
    met: { lost: 0, unanswered: 0, broken: 0, none: 0 },
    stop,
  }
  return bad
}

const eventsSoFar = (): KeyEvent[] => server.services.published.map((text) => JSON.parse(text))

const make = async (name: string, spec: object = {}, metadata: object = {}): Promise<string> =>
  (await server.make(keys, accessKey(name, { user: 'alice', ...spec }, metadata))).spec.key

async function patch(name: string, body: object, token?: string): Promise<void> {
  const { status, text } = await server.patch(`${keys}/${name}`, body, token)
  if (status !== 200) throw new Error(`${status}: ${text}`)
}

const use = async (token: string): Promise<number> => (await server.call(keys, { token })).status

/** Lets time pass, in which the log is settled. */
async function pass(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 4 * hour) {
    vi.setSystemTime(Date.now() + Math.min(left, 4 * hour) * 1000)
    await parts.storage.sweep(OwnedAccessKey.table)
  }
}

/** Rotates a key and returns its new value. */
async function rotate(name: string, overlapSeconds: number): Promise<string> {
  const { status, text, json } = await server.post(`${keys}/${name}/rotate`, { spec: { overlapSeconds } })
  if (status !== 201) throw new Error(`${status}: ${text}`)
  return json.status.key
}

async function report(value: string): Promise<void> {
  const { status } = await server.post('/leaks', { credentials: [value] }, '')
  expect(status).toBe(202)
}

/** Runs until it has succeeded a few times, while calls fail; then once more without failures. */
async function publishInBadWeather(): Promise<{ failed: number }> {
  network.weather = { share: 0.2, faults: ['lost', 'unanswered', 'conflict', 'broken', 'throttled'] }
  bus.share = 0.8
  let failed = 0
  for (let succeeded = 0; succeeded < 2; ) {
    await run().then(
      () => succeeded++,
      () => failed++,
    )
  }
  network.weather = { share: 0, faults: [] }
  bus.share = 0
  await run()
  return { failed }
}

/** Returns the events of a key as sorted texts, one for each id. */
function told(name: string): string[] {
  const byId = new Map<string, Set<string>>()
  for (const event of eventsSoFar().filter(({ data }) => data.name === name)) {
    const { how = '', fields = '', days = '' } = event.data as Record<string, never>
    const text = [kindOf(event), how, fields, days].filter((one) => String(one) !== '').join(' ')
    byId.set(event.id, (byId.get(event.id) ?? new Set()).add(text))
  }
  for (const texts of byId.values()) expect(texts.size).toBe(1)
  return [...byId.values()].flatMap((texts) => [...texts]).sort()
}

// threat: events-2
test('every type of event is published for what happened, though calls fail', async () => {
  await run()
  const plain = await make('plain', { ttl: 5 * 24 * hour }, { labels: { team: 'shop' } })
  await make('off')
  await make('held', {}, { finalizers: ['example.com/hold'] })
  await make('brief', { ttl: minute })
  const rotated = await make('rotated')
  const stalled = await make('stalled')
  const leaked = await make('leaked')
  const elsewhere = await make('elsewhere', { sourceCIDRs: ['192.0.2.0/24'] })
  expect(await Promise.all([plain, rotated, stalled].map(use))).toEqual([200, 200, 200])
  await patch('plain', { spec: { displayName: 'CI' } }, plain)
  await patch('off', { spec: { disabled: true } })
  await patch('off', { spec: { disabled: false } })
  await server.call(`${keys}/off`, { method: 'DELETE' })
  await server.call(`${keys}/held`, { method: 'DELETE' })
  await patch('held', { metadata: { finalizers: null } })
  const first = await publishInBadWeather()

  const next = await rotate('rotated', minute)
  await rotate('stalled', minute)
  expect(await use(next)).toBe(200)
  await pass(2 * minute)
  expect(await use(rotated)).toBe(401)
  expect(await use(elsewhere)).toBe(403)
  await report(leaked)
  const second = await publishInBadWeather()

  await pass(26 * hour)
  const third = await publishInBadWeather()
  expect(await use(rotated)).toBe(401)
  await pass(3 * 24 * hour)
  const fourth = await publishInBadWeather()
  const swept = await sweepExpired({
    store: parts.storeOf(OwnedAccessKey),
    storage: parts.storage,
    now: () => new Date(),
    retentionSeconds: { exchanged: 0, others: 0 },
    limits: {},
    hasTime: () => true,
    deadline: endless,
    maxDeletions: 10,
  })
  expect(swept).toMatchObject({ deleted: 1, failed: 0 })
  await pass(hour + 2 * minute)
  await publishInBadWeather()

  const expected: Record<string, string[]> = {
    plain: ['changed spec.displayName', 'created', 'expiring 1', 'first-used'],
    elsewhere: ['created', 'source-refused'],
    leaked: ['created', 'leaked', 'revoked Disabled'],
    off: ['changed spec.disabled', 'created', 'revoked Deleted', 'revoked Disabled'],
    held: ['created', 'revoked Deleted'],
    brief: ['created', 'expired', 'revoked Deleted'],
    // The old value was used on two days.
    rotated: ['created', 'first-used', 'reused', 'reused', 'rotated', 'rotation-started'],
    stalled: ['created', 'first-used', 'rotation-stalled', 'rotation-started'],
  }
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, told(name)]))).toEqual(expected)
  // The weather was bad enough to fail runs and to repeat events.
  let failed = first.failed + second.failed + third.failed + fourth.failed
  for (let more = 0; failed <= 3 && more < 20; more++) {
    await make(`more-${more}`)
    failed += (await publishInBadWeather()).failed
  }
  expect(failed).toBeGreaterThan(3)
  expect(Math.min(...Object.values(bus.met))).toBeGreaterThan(0)
  const ids = eventsSoFar().map(({ id }) => id)
  expect(new Set(ids).size).toBeLessThan(ids.length)

  const created = eventsSoFar().find(({ data, type }) => data.name === 'plain' && type.includes('.created.'))
  expect(created?.data).toMatchObject({ owner: 'alice', labels: { team: 'shop' }, actor: { user: 'admin' } })
  const changed = eventsSoFar().find(({ data, type }) => data.name === 'plain' && type.includes('.changed.'))
  expect(changed?.data.actor).toEqual({
    user: 'alice',
    accessKey: 'plain',
    accessKeyUid: changed?.data.uid,
    auditId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  const deletion = eventsSoFar().find(({ data }) => data.name === 'brief' && data.how === 'Deleted')
  expect(deletion?.data.actor).toEqual({ user: 'system:controller:expiry-sweep' })
})

test('the rotation that was over is settled, so that its old value is a tombstone', async () => {
  const { json } = await server.call(`${keys}/rotated`)
  const changes = eventsSoFar().filter(({ data }) => data.name === 'rotated')
  expect(json.metadata.uid).toBe(changes[0]?.data.uid)
  const stored = await parts.storage.get(OwnedAccessKey.table, 'rotated')
  expect(stored?.internal).not.toHaveProperty('pending')
  expect(stored?.internal).not.toHaveProperty('retiring')
  expect(stored?.internal.value).toMatchObject({ number: 2 })
})
