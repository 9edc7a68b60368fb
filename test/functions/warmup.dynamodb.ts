/** Tests what functions do while Lambda initializes them: their first request needs no connection, and nothing is written. */

import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { functionNames } from '../../infra/build.ts'
import { useFunctions } from '../support/functions.ts'
import { listening } from '../support/listening.ts'
import { patience } from '../support/patience.ts'

type Mood = 'passes' | 'fails' | 'is silent'

/** Stands in front of an AWS endpoint and records the operations that reach it. */
async function startFront(targetOf: () => string) {
  const seen: string[] = []
  let connections = 0
  let answered = 0
  let mood: Mood = 'passes'
  const server = createServer((from, to) => {
    seen.push(String(from.headers['x-amz-target']).replace(/.*\./, ''))
    if (mood === 'is silent') return
    if (mood === 'fails') return void to.writeHead(500).end('{"__type":"InternalServerError"}')
    const { method, headers, url = '/' } = from
    const asked = request(new URL(url, targetOf()), { method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(to)
      to.on('finish', () => answered++)
    })
    from.pipe(asked.on('error', () => to.destroy()))
  })
  server.on('connection', () => connections++)
  const { url, stop } = await listening(server)
  return {
    url,
    seen,
    connections: () => connections,
    answered: () => answered,
    become: (next: Mood) => {
      mood = next
    },
    stop,
  }
}

const names = await functionNames(join(import.meta.dirname, '../..'))
const at = useFunctions({ AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' })

type Front = Awaited<ReturnType<typeof startFront>>
let table: Front
let secrets: Front
const fronts: Front[] = []

afterAll(() => Promise.all(fronts.map(({ stop }) => stop())))
// Each test has its own: what earlier initializations still send would count in it.
beforeEach(async () => {
  vi.resetModules()
  table = await startFront(() => at.get().store.dynamodb.endpoint)
  secrets = await startFront(() => at.get().environment.AWS_ENDPOINT_URL_KMS ?? '')
  fronts.push(table, secrets)
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', table.url)
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', secrets.url)
})
afterEach(() => vi.unstubAllEnvs())

const initialize = (name: string) => import(join(import.meta.dirname, '../../functions', `${name}.ts`))

const allItems = async () => {
  const { client, table: TableName } = at.get().store.dynamodb
  return (await client.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items
}

describe('the initialization', () => {
  test.each(names)('of %s reads single items, writes nothing and logs nothing', async (name) => {
    const before = await allItems()
    at.get().log.length = 0
    await initialize(name)
    const reads = new Set(['GetItem', 'BatchGetItem', 'GetSecretValue'])
    expect([...table.seen, ...secrets.seen].filter((operation) => !reads.has(operation))).toEqual([])
    expect(await allItems()).toEqual(before)
    expect(at.get().log).toEqual([])
  })

  test.each(['authorizer', 'ownedaccesskeys/get', 'ownedaccesskeys/create', 'ownedaccesskeys/list'])(
    'of %s connects to the table',
    async (name) => {
      await initialize(name)
      expect(table.seen.length).toBe(1)
    },
  )

  test('outside of Lambda reaches nothing', async () => {
    vi.stubEnv('AWS_LAMBDA_INITIALIZATION_TYPE', undefined)
    await Promise.all(['authorizer', 'ownedaccesskeys/get', 'ownedaccesskeys/create'].map(initialize))
    expect([...table.seen, ...secrets.seen]).toEqual([])
  })
})

test('the first request uses the connection and the pepper of the initialization', async () => {
  await initialize('authorizer')
  // What takes longer than an initialization may goes on.
  await vi.waitFor(() => expect([table.answered(), secrets.answered()]).toEqual([1, 1]), patience)
  const connections = table.connections()
  table.seen.length = 0
  secrets.seen.length = 0
  await expect(at.run('authorizer')).rejects.toThrow('Unauthorized')
  expect([table.seen, secrets.seen]).toEqual([['GetItem'], []])
  expect(table.connections()).toBe(connections)
})

describe('an initialization without answers', () => {
  test.each(['is silent', 'fails'] as const)('succeeds while AWS %s, and the first request works', async (mood) => {
    table.become(mood)
    secrets.become(mood)
    await Promise.all([initialize('authorizer'), initialize('ownedaccesskeys/get')])
    expect(table.seen.length).toBeGreaterThan(0)
    // It does not wait for the retries of the client: two of each function.
    if (mood === 'is silent') expect(table.seen.length + secrets.seen.length).toBeLessThanOrEqual(3)
    table.become('passes')
    secrets.become('passes')
    expect((await at.invoke('ownedaccesskeys/get', { parameters: { name: 'absent' } })).status).toBe(404)
    await expect(at.run('authorizer')).rejects.toThrow('Unauthorized')
  })
})
