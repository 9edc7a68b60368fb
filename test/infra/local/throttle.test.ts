import { expect, test } from 'vitest'
import { createThrottle } from '../../../infra/local/throttle.ts'
import { serve } from './deployment.ts'

test('a burst, then as many as come back with time', () => {
  let now = 0
  const { admit } = createThrottle({ rate: 10, burst: 3 }, () => now)
  const admitted = () => {
    const done = admit()
    done?.()
    return done !== undefined
  }
  expect([1, 2, 3, 4].map(admitted)).toEqual([true, true, true, false])
  now = 99
  expect(admitted()).toBe(false)
  now = 100
  expect([1, 2].map(admitted)).toEqual([true, false])
  now = 60_000
  expect([1, 2, 3, 4].map(admitted)).toEqual([true, true, true, false])
})

test('64 at once, each counted once', () => {
  const { admit } = createThrottle(undefined, () => 0)
  const all = Array.from({ length: 64 }, admit)
  expect(all).not.toContain(undefined)
  expect(admit()).toBeUndefined()
  all[0]?.()
  all[0]?.()
  expect(admit()).toBeDefined()
  expect(admit()).toBeUndefined()
})

const responses = {
  THROTTLED: {
    StatusCode: '429',
    ResponseParameters: { 'gatewayresponse.header.Retry-After': "'1'" },
    ResponseTemplates: { 'application/json': '{"reason":"TooManyRequests"}' },
  },
}
const throttled = (rate: number, burst: number) => ({
  MethodSettings: [{ HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst }],
})

test('the gateway refuses what is too much, as the template says, before any function runs', async () => {
  const source = `let runs = 0; export const handler = async () => ({ body: String(++runs) })`
  const one = { source, routes: ['POST /a'], public: true }
  const gateway = await serve({ one }, { responses, stage: throttled(0, 2) })
  try {
    const ask = () => fetch(`${gateway.url}/a`, { method: 'POST', body: 'x'.repeat(1000) })
    expect(await Promise.all([(await ask()).text(), (await ask()).text()])).toEqual(['1', '2'])
    const refused = await ask()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toEqual({ reason: 'TooManyRequests' })
  } finally {
    await gateway.close(0.05)
  }
})

test('or not, where the machine is measured', async () => {
  const one = { source: `export const handler = async () => ({ body: '' })`, routes: ['GET /a'], public: true }
  const gateway = await serve({ one }, { responses, stage: throttled(0, 0), unthrottled: true })
  try {
    expect((await fetch(`${gateway.url}/a`)).status).toBe(200)
  } finally {
    await gateway.close(0.05)
  }
})

test('open streams keep nobody out', async () => {
  const source = `export const handler = awslambda.streamifyResponse(async (event, stream) => {
    awslambda.HttpResponseStream.from(stream, { statusCode: 200 }).write('begun')
    await new Promise((resolve) => stream.once('close', resolve))
  })`
  const watch = { source, routes: ['GET /watch'], public: true, streaming: true }
  const gateway = await serve({ watch }, { responses })
  const abort = new AbortController()
  try {
    const ask = () => fetch(`${gateway.url}/watch`, { signal: abort.signal })
    const streams: Response[] = []
    while (streams.length < 150) streams.push(...(await Promise.all(Array.from({ length: 50 }, ask))))
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  } finally {
    abort.abort()
    await gateway.close(0.05)
  }
})
