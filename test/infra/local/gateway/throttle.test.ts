import { once } from 'node:events'
import { request } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { deployedWith } from '../../../../infra/local/gateway/deployment.ts'
import { createThrottle } from '../../../../infra/local/gateway/throttle.ts'
import { serve } from '../deployment.ts'

test('allows a burst, then the configured rate', async () => {
  let now = 0
  const { admit } = createThrottle({ rate: 10, burst: 3 }, () => now)
  const admitAll = async (count: number): Promise<boolean[]> => {
    const all = await Promise.all(Array.from({ length: count }, () => admit()))
    for (const done of all) done?.()
    return all.map((done) => done !== undefined)
  }
  expect(await admitAll(4)).toEqual([true, true, true, false])
  now = 99
  expect(await admitAll(1)).toEqual([false])
  now = 100
  expect(await admitAll(2)).toEqual([true, false])
  now = 60_000
  expect(await admitAll(4)).toEqual([true, true, true, false])
})

// threat: exchange-49
test('limits a method that has limits of its own apart from the others', async () => {
  const methods = new Map([['POST /a', { rate: 1, burst: 2 }]])
  const { admit } = createThrottle({ rate: 1, burst: 1 }, () => 0, methods)
  const isAdmitted = async (method?: string) => {
    const done = await admit(method)
    done?.()
    return done !== undefined
  }
  expect([await isAdmitted('POST /a'), await isAdmitted('POST /a'), await isAdmitted('POST /a')]).toEqual([
    true,
    true,
    false,
  ])
  expect([await isAdmitted('GET /a'), await isAdmitted()]).toEqual([true, false])
})

test.each([
  { what: 'no limits', given: { MaxKeyTtlSeconds: '60' }, limits: [] },
  {
    what: 'all limits of a stage',
    given: { ThrottleRate: '7' },
    limits: ['stage 7 1000', 'review 7 1000', 'exchange 50 100', 'leak 5 20', 'console 50 200'],
  },
  {
    what: 'all limits of a stage',
    given: { ThrottleBurst: '9', ExchangeThrottleBurst: '8' },
    limits: ['stage 500 9', 'review 500 9', 'exchange 50 8', 'leak 5 20', 'console 50 200'],
  },
  { what: 'those of exchanges alone', given: { ExchangeThrottleRate: '3' }, limits: ['exchange 3 100'] },
])('the parameters $given set $what', ({ given, limits }) => {
  const { throttle, methodThrottles } = deployedWith(given).api
  const base = '/kubernetes/management'
  const shown = {
    stage: throttle,
    review: methodThrottles.get(`POST ${base}/apis/authentication.k8s.io/v1/tokenreviews`),
    exchange: methodThrottles.get(`POST ${base}/oauth2/token`),
    leak: methodThrottles.get(`POST ${base}/leaks`),
    console: methodThrottles.get('GET /console'),
  }
  const set = Object.entries(shown).flatMap(([name, one]) => (one ? [`${name} ${one.rate} ${one.burst}`] : []))
  expect(set).toEqual(limits)
})

/** A queue with 16 running requests, and the outcomes of those after them. */
async function busyThrottle(elapsed: () => number) {
  const { admit } = createThrottle(undefined, elapsed)
  const working = await Promise.all(Array.from({ length: 16 }, () => admit()))
  const turns: string[] = []
  const arrive = (name: string, onLeft?: Parameters<typeof admit>[1]) =>
    admit(undefined, onLeft).then((done) => {
      turns.push(done ? `${name} has its turn` : `${name} is refused`)
      return done
    })
  return { working, turns, arrive }
}

test('runs 16 requests at once and the others in order', async () => {
  const { working, turns, arrive } = await busyThrottle(() => 0)
  expect(working).not.toContain(undefined)
  const [first, second] = [arrive('first'), arrive('second')]
  working[0]?.()
  working[0]?.()
  const done = await first
  expect(turns).toEqual(['first has its turn'])
  done?.()
  await second
  expect(turns).toEqual(['first has its turn', 'second has its turn'])
})

test('lets a request wait for its turn for as long as its client does', async () => {
  let now = 0
  const { working, turns, arrive } = await busyThrottle(() => now)
  let leave = () => {}
  arrive('impatient', (gone) => {
    leave = gone
  })
  arrive('patient')
  now = 3_600_000
  leave()
  await setImmediate()
  expect(turns).toEqual(['impatient is refused'])
  working[0]?.()
  leave()
  await setImmediate()
  expect(turns).toEqual(['impatient is refused', 'patient has its turn'])
})

test('queues at most 1,000 requests', async () => {
  const { working, turns, arrive } = await busyThrottle(() => 0)
  const line = Array.from({ length: 1000 - 16 }, () => arrive('one'))
  await arrive('one too many')
  expect(turns).toEqual(['one too many is refused'])
  working[0]?.()
  await line[0]
  expect(turns).toEqual(['one too many is refused', 'one has its turn'])
})

const responses = {
  THROTTLED: {
    statusCode: '429',
    responseParameters: { 'gatewayresponse.header.Retry-After': "'1'" },
    responseTemplates: { 'application/json': '{"reason":"TooManyRequests"}' },
  },
}

test('the gateway throttles as the deployment configures, before any function runs', async () => {
  const source = `let runs = 0; export const handler = async () => ({ body: String(++runs) })`
  const one = { source, routes: ['POST /a'], public: true }
  const gateway = await serve({ one }, { responses, throttle: { rate: 0, burst: 2 } })
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

test('limits do not count the requests before they apply', async () => {
  const one = { source: `export const handler = async () => ({ body: '' })`, routes: ['GET /a'], public: true }
  const begin = Promise.withResolvers<void>()
  const gateway = await serve({ one }, { throttle: { rate: 0, burst: 1 }, limitedFrom: begin.promise })
  try {
    const ask = async () => (await fetch(`${gateway.url}/a`)).status
    expect([await ask(), await ask()]).toEqual([200, 200])
    begin.resolve()
    await begin.promise
    expect([await ask(), await ask()]).toEqual([200, 429])
  } finally {
    await gateway.close(0.05)
  }
})

test('a request is as old as its turn, and one whose client leaves the queue never runs', async () => {
  const source = `export const handler = async ({ path, requestContext }) => {
    globalThis.runs(path)
    await globalThis.gate
    return { body: String(requestContext.requestTimeEpoch) }
  }`
  const [full, gate, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers()]
  const ran: string[] = []
  const runs = (path: string) => ran.push(path) === 16 && full.resolve()
  Object.assign(globalThis, { runs, gate: gate.promise })
  const one = { source, routes: ['GET /{name}'], public: true }
  const gateway = await serve({ one }, { answered: left.resolve })
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
    return gateway.close(0.05)
  })
  const first = Array.from({ length: 16 }, () => fetch(`${gateway.url}/first`))
  await full.promise
  /** Resolves when the gateway has the request. */
  const queue = async (path: string) => {
    const sent = request(`${gateway.url}${path}`, { headers: { Expect: '100-continue' } }).on('error', () => {})
    sent.end()
    await once(sent, 'continue')
    return sent
  }
  const impatient = await queue('/impatient')
  const patient = once(await queue('/patient'), 'response')
  impatient.destroy()
  expect(await left.promise).toMatchObject({ path: '/impatient', status: 0 })
  vi.advanceTimersByTime(60_000)
  gate.resolve()
  const [response] = await patient
  expect([response.statusCode, (await response.toArray()).join('')]).toEqual([200, String(Date.now())])
  await Promise.all(first)
  expect([ran.length, ran.at(-1)]).toEqual([17, '/patient'])
})

test('open streams do not occupy slots, even if they have sent nothing yet', async () => {
  const source = `export const handler = awslambda.streamifyResponse(async (event, stream) => {
    globalThis.streams.add(stream)
    awslambda.HttpResponseStream.from(stream, { statusCode: 200 }).write('')
    await new Promise((resolve) => stream.once('close', resolve))
    globalThis.streams.delete(stream)
  })`
  const watch = { source, routes: ['GET /watch'], public: true, streams: true as const }
  const streams = new Set()
  Object.assign(globalThis, { streams })
  const gateway = await serve({ watch }, { responses })
  const abort = new AbortController()
  try {
    const ask = () => fetch(`${gateway.url}/watch`, { signal: abort.signal })
    const answers = await Promise.all(Array.from({ length: 50 }, ask))
    expect([new Set(answers.map(({ status }) => status)), streams.size]).toEqual([new Set([200]), 50])
  } finally {
    abort.abort()
    await gateway.close(0.05)
  }
})
