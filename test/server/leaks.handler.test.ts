/** Tests the handler of reports: deployments that only tell of leaks, and a failing table. */
import { setImmediate } from 'node:timers/promises'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { sampleEvent } from '../../events/sample.ts'
import { StorageError } from '../../lib/engine/storage/errors.ts'
import type { Storage } from '../../lib/engine/storage/interface.ts'
import { publicHandler } from '../../lib/server/lambda/publicendpoint.ts'
import { leakEndpoint } from '../../lib/server/leaks/answerreport.ts'
import { leakSignals } from '../support/leaksignals.ts'
import { keys, management } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'

const example: APIGatewayProxyEvent = sampleEvent('leaks')
const server = useServer()

const makeKey = async () => {
  const { token: value, ...key } = await server.makeKey({ user: 'alice' })
  return { ...key, value }
}
const statusOf = async (token: string) => (await server.post(`${management}/selves`, {}, token)).status

/** Returns a handler over the stores of the server. */
function handlerWith({ onLeak = 'disable', storage = server.parts.storage }: { onLeak?: string; storage?: Storage }) {
  const { parts } = server
  const own = Object.create(parts, {
    config: { value: Object.create(parts.config, { onLeak: { value: onLeak } }) },
    storage: { value: Object.create(storage) },
    storeOf: { value: (kind: Parameters<typeof parts.storeOf>[0]) => ({ ...parts.storeOf(kind), storage }) },
  })
  const handle = publicHandler(parts, leakEndpoint(own))
  return async (body: string, received = Date.now()) => {
    const sent = {
      ...example,
      headers: { 'Content-Type': 'application/json' },
      multiValueHeaders: {},
      body,
      requestContext: { ...example.requestContext, requestTimeEpoch: received },
    }
    const { statusCode: status, body: text } = await handle(sent)
    return { status, json: text ? JSON.parse(String(text)) : undefined }
  }
}

const lastRecord = () => {
  const lines = server.log.join('').split('\n')
  return JSON.parse(lines.filter((line) => line.includes('"resource":"leaks"')).at(-1) ?? '{}')
}

describe('a deployment that only tells of leaks', () => {
  test('ends nothing, and signals each value once', async () => {
    const made = await makeKey()
    const before = (await server.call(`${keys}/${made.name}`)).json
    const body = JSON.stringify({ credentials: [made.value], url: 'https://git.example.com/a' })
    const report = handlerWith({ onLeak: 'report' })
    for (const count of [1, 0, 0]) {
      expect((await report(body)).status).toBe(202)
      expect(lastRecord()).toMatchObject({ reported: 1, count, leakedKeys: count })
    }
    expect((await handlerWith({ onLeak: 'report' })(body)).status).toBe(202)
    expect(lastRecord().count).toBe(0)
    expect((await server.call(`${keys}/${made.name}`)).json).toEqual(before)
    expect(await leakSignals(server, made.uid)).toEqual([expect.objectContaining({ url: 'https://git.example.com/a' })])
    expect(await statusOf(made.value)).toBe(201)
  })
})

describe('a table that fails', () => {
  /** Fails the updates of keys, as long as `isDown` says so. */
  const failing = (isDown: () => boolean, code: 'Unavailable' | 'Undecided'): Storage => {
    const { storage } = server.parts
    return Object.create(storage, {
      update: {
        value: async (...asked: Parameters<Storage['update']>) => {
          if (isDown()) throw new StorageError(code, 'down')
          return storage.update(...asked)
        },
      },
    })
  }

  test('longer than the request may last is a 504, and the repeated report ends the rest', async () => {
    const made = await Array.fromAsync({ length: 10 }, makeKey)
    const { storage } = server.parts
    let isSlow = true
    const slow: Storage = Object.create(storage, {
      update: {
        async value(...asked: Parameters<Storage['update']>) {
          if (isSlow) while (asked[3].deadline() > 0) await setImmediate()
          return storage.update(...asked)
        },
      },
    })
    const report = handlerWith({ storage: slow })
    const body = JSON.stringify({ credentials: made.map(({ value }) => value) })
    const first = await report(body, Date.now() - 19_500)
    expect([first.status, first.json.reason]).toEqual([504, 'Timeout'])
    for (const { value } of made) expect(await statusOf(value)).toBe(201)
    isSlow = false
    expect((await report(body)).status).toBe(202)
    for (const { value } of made) expect(await statusOf(value)).toBe(401)
  })

  test.each([
    ['Unavailable', 503, 'storage'],
    ['Undecided', 504, 'storage'],
  ] as const)('with %s is a %i, and the repeated report ends the rest', async (code, status, reason) => {
    const made = [await makeKey(), await makeKey(), await makeKey()]
    let failures = 1
    const report = handlerWith({ storage: failing(() => failures-- > 0, code) })
    const body = JSON.stringify({ credentials: made.map(({ value }) => value) })
    const first = await report(body)
    expect([first.status, first.json.kind]).toEqual([status, 'Status'])
    expect(lastRecord()).toMatchObject({ code: status, reason, fault: 'server', count: 2 })
    expect((await report(body)).status).toBe(202)
    expect(lastRecord()).toMatchObject({ code: 202, count: 1 })
    for (const { value } of made) expect(await statusOf(value)).toBe(401)
  })
})
