/** Tests that a function answers before the gateway times out, which would not return a Status. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sampleEvent } from '../../events/sample.ts'
import { type Endpoint, serveWith } from '../../lib/server/lambda/serve.ts'
import { createMinimalServer, type MinimalServer } from '../../lib/server/process/minimal.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => vi.useRealTimers())

const gatewaySeconds = 29
const context = { getRemainingTimeInMillis: () => 60_000 }

/** Returns the answer of the function to its event, and its log. */
async function invoke(endpoint: Endpoint) {
  const log = vi.fn()
  const minimal = createMinimalServer({ STAGE: 'test', ISSUER: 'https://keyplane.example.com' })
  const { config, now, sleep, elapsed } = minimal
  const server: MinimalServer = { config, log, now, sleep, elapsed, signer: { sign: vi.fn() } as never }
  const handler = serveWith(server, endpoint, { streams: false })
  const event = sampleEvent('ownedaccesskeys/get')
  event.requestContext.requestTimeEpoch = Date.now()
  return { answer: handler(event, context) as Promise<{ statusCode: number; headers: object; body: string }>, log }
}

test('an endpoint that does not finish returns 504 while the gateway still waits', async () => {
  const { answer, log } = await invoke(() => new Promise(() => {}))
  await vi.advanceTimersByTimeAsync((gatewaySeconds - 1) * 1000)
  const { statusCode, headers, body } = await answer
  expect(statusCode).toBe(504)
  expect(headers).not.toHaveProperty('retry-after')
  expect(JSON.parse(body)).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'Timeout', code: 504 })
  expect(log).toHaveBeenCalledTimes(1)
  expect(log.mock.calls[0]?.[2]).toMatchObject({ user: 'alice', code: 504 })
})

test('an answer in time leaves no timer running', async () => {
  const { answer } = await invoke(async () => ({ status: 200, headers: {}, warnings: [], body: 'in time' }))
  expect(await answer).toMatchObject({ statusCode: 200, body: 'in time' })
  expect(vi.getTimerCount()).toBe(0)
})
