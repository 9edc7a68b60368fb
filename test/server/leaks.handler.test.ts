/** Tests the handler of reports: those that GitHub has signed, deployments that only tell of leaks, and a failing table. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { generateAccessKey } from '../../lib/authentication/accesskey.ts'
import { publicHandler } from '../../lib/server/lambda/publicendpoint.ts'
import { leakEndpoint } from '../../lib/server/leaks/answerreport.ts'
import { createPartnerKeys } from '../../lib/server/leaks/partnerkeys.ts'
import { StorageError } from '../../lib/storage/errors.ts'
import type { Storage } from '../../lib/storage/interface.ts'
import { unlimited } from '../support/deadlines.ts'
import { leakSignals } from '../support/leaksignals.ts'
import { keys, management } from '../support/objects.ts'
import { type KeyServer, listOf, makeSigningKey, signedBy, startKeyServer } from '../support/partnerkeys.ts'
import { messageOf } from '../support/refusals.ts'
import { useServer } from '../support/sharedserver.ts'

const example: APIGatewayProxyEvent = JSON.parse(
  await readFile(new URL('../../events/leaks.json', import.meta.url), 'utf8'),
)
const key = makeSigningKey()
const server = useServer()
let github: KeyServer

beforeAll(async () => {
  github = await startKeyServer()
})
beforeEach(() => github.serve(listOf(key.listed)))
afterAll(async () => {
  github?.close()
})

const newValue = () => generateAccessKey(randomBytes)

const makeKey = async () => {
  const { token: value, ...key } = await server.makeKey({ user: 'alice' })
  return { ...key, value }
}
const statusOf = async (token: string) => (await server.post(`${management}/selves`, {}, token)).status

/** Returns a handler over the stores of the server, with a memory of its own. */
function handlerWith({ onLeak = 'disable', storage = server.parts.storage }: { onLeak?: string; storage?: Storage }) {
  const { parts } = server
  const partnerKeys = createPartnerKeys({
    ...github.access,
    timeout: unlimited,
    now: Date.now,
    failed: () => undefined,
  })
  const own = Object.create(parts, {
    config: { value: Object.create(parts.config, { onLeak: { value: onLeak } }) },
    storage: { value: Object.create(storage) },
    storeOf: { value: (kind: Parameters<typeof parts.storeOf>[0]) => ({ ...parts.storeOf(kind), storage }) },
    partnerKeys: { value: partnerKeys },
  })
  const handle = publicHandler(parts, leakEndpoint(own))
  return async (resource: string, body: string, headers: Record<string, string> = {}, received = Date.now()) => {
    const sent = {
      ...example,
      resource: `/kubernetes/management${resource}`,
      headers: { 'Content-Type': 'application/json', ...headers },
      multiValueHeaders: {},
      body,
      requestContext: { ...example.requestContext, requestTimeEpoch: received },
    }
    const { statusCode, headers: answered, body: text } = await handle(sent)
    return {
      status: statusCode,
      headers: answered,
      text: String(text),
      json: text ? JSON.parse(String(text)) : undefined,
    }
  }
}

const signedReport = (tokens: readonly object[]) => {
  const body = JSON.stringify(tokens)
  return [body, signedBy(key, Buffer.from(body))] as const
}

const lastRecord = () => {
  const lines = server.log.join('').split('\n')
  return JSON.parse(lines.filter((line) => line.includes('"resource":"leaks"')).at(-1) ?? '{}')
}

describe('a report that GitHub has signed', () => {
  test('gets a label for each text, with its hash only', async () => {
    const [made, unknown] = [await makeKey(), newValue()]
    const tokens = [
      { token: made.value, type: 'keyplane_key', url: 'https://github.com/a/b/blob/c/d#L1', source: 'commit' },
      { token: unknown, type: 'keyplane_key', url: '', source: 'commit' },
      { token: 'text', type: 'other' },
      { token: made.value },
    ]
    const report = handlerWith({})
    const { status, text, json } = await report('/leaks/github', ...signedReport(tokens))
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    const labels = [
      { token_hash: hash, token_type: 'keyplane_key', label: 'true_positive' },
      { token_hash: hash, token_type: 'keyplane_key', label: 'false_positive' },
      { token_hash: hash, token_type: 'other', label: 'false_positive' },
      { token_hash: hash, token_type: '', label: 'true_positive' },
    ]
    expect([status, json]).toEqual([200, labels])
    expect(text).not.toContain(made.value)
    expect(await statusOf(made.value)).toBe(401)
    expect(lastRecord()).toMatchObject({ source: 'github', reported: 2, count: 1, names: [made.name] })
    const again = await report('/leaks/github', ...signedReport(tokens))
    expect([again.status, again.json]).toEqual([200, labels])
  })

  test('may have a thousand keys, and gets no label at the other route', async () => {
    const report = handlerWith({})
    const tokens = Array.from({ length: 1000 }, () => ({ token: newValue() }))
    const { status, json } = await report('/leaks/github', ...signedReport(tokens))
    expect([status, json.length]).toEqual([200, 1000])
    const more = await report('/leaks/github', ...signedReport([...tokens, { token: newValue() }]))
    expect(messageOf(more)).toEqual([413, 'Request entity too large: limit is 1000 credentials'])
    const body = JSON.stringify({ credentials: [newValue()] })
    expect((await report('/leaks', body, signedBy(key, Buffer.from(body)))).status).toBe(202)
  })

  test('counts as unsigned when a byte differs, and its values end all the same', async () => {
    const made = await makeKey()
    const [body, headers] = signedReport([{ token: made.value }])
    const { status, text } = await handlerWith({})('/leaks/github', `${body} `, headers)
    expect([status, text, lastRecord().source]).toEqual([202, '', 'anybody'])
    expect(await statusOf(made.value)).toBe(401)
  })

  test('ends its values while the keys cannot be read, unless it is too long for an unsigned one', async () => {
    github.serve('', {}, 500)
    const made = await makeKey()
    const report = handlerWith({})
    const { status } = await report('/leaks/github', ...signedReport([{ token: made.value }]))
    expect([status, lastRecord().source]).toEqual([202, 'unknown'])
    expect(await statusOf(made.value)).toBe(401)
    const long = await report(
      '/leaks/github',
      ...signedReport(Array.from({ length: 51 }, () => ({ token: newValue() }))),
    )
    expect([long.status, long.headers['retry-after'], lastRecord().storageCalls]).toEqual([503, '300', 0])
  })
})

describe('a deployment that only tells of leaks', () => {
  test('ends nothing, and signals each value once', async () => {
    const made = await makeKey()
    const before = (await server.call(`${keys}/${made.name}`)).json
    const body = JSON.stringify({ credentials: [made.value], url: 'https://git.example.com/a' })
    const report = handlerWith({ onLeak: 'report' })
    for (const count of [1, 0, 0]) {
      expect((await report('/leaks', body)).status).toBe(202)
      expect(lastRecord()).toMatchObject({ reported: 1, count, leakedKeys: count })
    }
    expect((await handlerWith({ onLeak: 'report' })('/leaks', body)).status).toBe(202)
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
    const first = await report('/leaks', body, {}, Date.now() - 19_500)
    expect([first.status, first.json.reason]).toEqual([504, 'Timeout'])
    for (const { value } of made) expect(await statusOf(value)).toBe(201)
    isSlow = false
    expect((await report('/leaks', body)).status).toBe(202)
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
    const first = await report('/leaks', body)
    expect([first.status, first.json.kind]).toEqual([status, 'Status'])
    expect(lastRecord()).toMatchObject({ code: status, reason, fault: 'server', count: 2 })
    expect((await report('/leaks', body)).status).toBe(202)
    expect(lastRecord()).toMatchObject({ code: 202, count: 1 })
    for (const { value } of made) expect(await statusOf(value)).toBe(401)
  })
})
