import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { RequestEvent } from '../../../../infra/local/gateway/events.ts'
import { startGateway } from '../../../../infra/local/gateway/gateway.ts'
import { type FunctionFixture, type Started, serve as start } from '../deployment.ts'
import cases from './vectors/gateway.cases.json' with { type: 'json' }

const open: Started[] = []
const serve = async (...args: Parameters<typeof start>) => {
  const started = await start(...args)
  open.push(started)
  return started
}
afterEach(async () => {
  for (const started of open.splice(0)) await started.close(0.05)
})

const echo = `export const handler = async (event) => ({ statusCode: 200, body: JSON.stringify(event) })`
const authorizer = (body: string): FunctionFixture => ({
  source: `export const handler = async (event) => { ${body} }`,
})
const policy = (effect: string, resource = '*') =>
  `({ Version: '2012-10-17', Statement: [{ Effect: '${effect}', Action: 'execute-api:Invoke', Resource: '${resource}' }] })`
const allow = authorizer(
  `return { principalId: 'alice', policyDocument: ${policy('Allow')}, context: { user: 'eyJ9', level: 3, admin: true } }`,
)
const json = async (response: Response) => (await response.json()) as RequestEvent

describe('events', () => {
  test('have the shape of a REST API proxy event', async () => {
    const { url } = await serve({ authorizer: allow, one: { source: echo, routes: ['POST /a/{name}'] } })
    const response = await fetch(`${url}/a/b%2Fc/?x=1&x=2+3&y`, {
      method: 'POST',
      body: '{"ä":1}',
      headers: { 'X-One': '1' },
    })
    const event = await json(response)
    expect(event).toMatchObject({
      resource: '/a/{name}',
      path: '/a/b%2Fc/',
      httpMethod: 'POST',
      pathParameters: { name: 'b%2Fc' },
      queryStringParameters: { x: '2 3', y: '' },
      multiValueQueryStringParameters: { x: ['1', '2 3'], y: [''] },
      stageVariables: null,
      body: '{"ä":1}',
      isBase64Encoded: false,
      requestContext: {
        resourcePath: '/a/{name}',
        stage: 'dev',
        apiId: 'local',
        path: '/a/b%2Fc/',
        identity: { sourceIp: '127.0.0.1' },
        authorizer: { principalId: 'alice', user: 'eyJ9', level: '3', admin: 'true' },
      },
    })
    expect(event.multiValueHeaders).toMatchObject({ 'X-Forwarded-For': ['127.0.0.1'] })
    expect(Object.keys(event.headers).map((name) => name.toLowerCase())).not.toContain('content-length')
    expect(response.headers.get('x-amzn-requestid')).toBe(event.requestContext.requestId)
  })

  test('carry null for absent values, and binary bodies as base64', async () => {
    const { url } = await serve({ one: { source: echo, routes: ['ANY /'], public: true } })
    expect(await json(await fetch(url))).toMatchObject({
      resource: '/',
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      body: null,
      isBase64Encoded: false,
    })
    const binary = {
      method: 'POST',
      body: new Uint8Array([0xff, 0]),
      headers: { 'Content-Type': 'application/octet-stream; a=b' },
    }
    expect(await json(await fetch(url, binary))).toMatchObject({ body: '/wA=', isBase64Encoded: true })
  })

  test('of the authorizer have no body, and empty objects for absent values', async () => {
    const { url } = await serve({
      authorizer: authorizer(
        `globalThis.seen = event; return { principalId: 'a', policyDocument: ${policy('Allow')} }`,
      ),
      one: {
        source: `export const handler = async () => ({ body: JSON.stringify(globalThis.seen) })`,
        routes: ['POST /a'],
      },
    })
    const event = await json(await fetch(`${url}/a`, { method: 'POST', body: 'secret' }))
    expect(event).toMatchObject({
      type: 'REQUEST',
      methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:local/dev/POST/a',
    })
    expect([event.queryStringParameters, event.pathParameters, event.stageVariables]).toEqual([{}, {}, {}])
    expect(event).not.toHaveProperty('body')
    expect(event.requestContext).not.toHaveProperty('authorizer')
  })
})

describe('source addresses', () => {
  /** Sends a request from this address to the loopback address of its family. */
  const sourceOf = async (port: string, localAddress: string, headers: Record<string, string> = {}) => {
    const host = localAddress.includes(':') ? '::1' : '127.0.0.1'
    const sent = request({ host, port, path: '/a', localAddress, headers }).end()
    const [response] = await once(sent, 'response')
    const event = JSON.parse((await response.toArray()).join('')) as RequestEvent
    return event.requestContext.identity
  }

  test.each(['127.0.0.1', '127.0.0.2', '::1'])('are those of the connection: %s', async (address) => {
    const { url } = await serve({ one: { source: echo, routes: ['GET /a'], public: true } })
    expect(await sourceOf(new URL(url).port, address)).toMatchObject({ sourceIp: address })
  })

  test('do not change with headers', async () => {
    const { url } = await serve({ one: { source: echo, routes: ['GET /a'], public: true } })
    const headers = { 'X-Forwarded-For': '192.0.2.1', Forwarded: 'for=192.0.2.1', 'X-Real-IP': '192.0.2.1' }
    expect(await sourceOf(new URL(url).port, '127.0.0.3', headers)).toMatchObject({ sourceIp: '127.0.0.3' })
  })

  test('leave no connection open after the gateway has closed', async () => {
    const started = await start({ one: { source: echo, routes: ['GET /a'], public: true } })
    const socket = connect(Number(new URL(started.url).port), '::1')
    socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    await Promise.all([once(socket.resume(), 'end'), started.close()])
  })
})

test.each([
  [{}, 'max-age=1'],
  [{ sharesHost: true }, null],
])('with %j, Strict-Transport-Security is %s in answers and refusals', async (options, expected) => {
  const header = 'Strict-Transport-Security'
  const source = `export const handler = async () => ({ statusCode: 200, headers: { '${header}': 'max-age=1' }, body: '' })`
  const responses = {
    MISSING_AUTHENTICATION_TOKEN: {
      statusCode: '404',
      responseParameters: { [`gatewayresponse.header.${header}`]: "'max-age=1'" },
      responseTemplates: { 'application/json': '{}' },
    },
  }
  const { url } = await serve({ authorizer: allow, one: { source, routes: ['GET /a'] } }, { responses, ...options })
  const sent = await Promise.all(['/a', '/b'].map((path) => fetch(url + path)))
  expect(sent.map(({ status, headers }) => [status, headers.get(header)])).toEqual([
    [200, expected],
    [404, expected],
  ])
})

describe('authorization', () => {
  const responses = {
    ACCESS_DENIED: { statusCode: '403', responseTemplates: { 'application/json': '$context.authorizer.status' } },
    UNAUTHORIZED: {
      statusCode: '401',
      responseParameters: { 'gatewayresponse.header.Audit-Id': 'context.requestId' },
      responseTemplates: { 'application/json': '{"message":"Unauthorized"}' },
    },
    DEFAULT_5XX: {
      statusCode: '500',
      responseTemplates: { 'application/json': '{"type":"$context.error.responseType"}' },
    },
  }
  const one = { source: echo, routes: ['GET /a'] }
  const ask = async (body: string) => {
    const started = await serve({ authorizer: authorizer(body), one }, { responses })
    return { response: await fetch(`${started.url}/a`), reports: started.reports }
  }

  test('returns 401 with the request ID when the authorizer throws Unauthorized', async () => {
    const { response, reports } = await ask(`throw new Error('Unauthorized')`)
    expect(response.status).toBe(401)
    expect(await response.text()).toBe('{"message":"Unauthorized"}')
    expect(response.headers.get('audit-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(response.headers.get('audit-id')).toBe(response.headers.get('x-amzn-requestid'))
    expect(reports).toEqual([])
  })

  test('returns 403 with the unescaped context for a Deny', async () => {
    const status = JSON.stringify({ message: 'User "a" may not', code: 403 })
    const { response } = await ask(
      `return { principalId: 'a', policyDocument: ${policy('Deny')}, context: { status: ${JSON.stringify(status)} } }`,
    )
    expect(response.status).toBe(403)
    expect(await response.text()).toBe(status)
  })

  // threat: authorizer-6
  test('denies by default', async () => {
    const elsewhere = 'arn:aws:execute-api:*:*:*/dev/POST/*'
    const { response } = await ask(`return { principalId: 'a', policyDocument: ${policy('Allow', elsewhere)} }`)
    expect(response.status).toBe(403)
  })

  test.each([
    ['throws', `throw new Error('Unauthorized: no')`, 'AUTHORIZER_FAILURE'],
    ['answers nothing', '', 'AUTHORIZER_CONFIGURATION_ERROR'],
    ['answers no policy', `return { principalId: 'a' }`, 'AUTHORIZER_CONFIGURATION_ERROR'],
    ['answers no principal', `return { policyDocument: ${policy('Allow')} }`, 'AUTHORIZER_CONFIGURATION_ERROR'],
    [
      'answers a nested context',
      `return { principalId: 'a', policyDocument: ${policy('Allow')}, context: { user: {} } }`,
      'AUTHORIZER_CONFIGURATION_ERROR',
    ],
  ])('denies every request when the authorizer %s', async (_, body, type) => {
    const { response, reports } = await ask(body)
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({ type })
    expect(reports).toHaveLength(1)
  })

  test('runs no authorizer for public routes', async () => {
    const { url } = await serve({
      authorizer: authorizer(`throw new Error('Unauthorized')`),
      one: { ...one, public: true },
    })
    expect((await fetch(`${url}/a`)).status).toBe(200)
  })
})

describe('answers', () => {
  const answer = async (value: string, headers: Record<string, string> = {}) => {
    const source = `export const handler = async () => (${value})`
    const started = await serve({ one: { source, routes: ['ANY /{proxy+}'], public: true } })
    return { response: await fetch(`${started.url}/a`, { headers }), reports: started.reports }
  }

  test('send single and multi-value headers, some remapped', async () => {
    const { response } = await answer(
      `{ statusCode: 201, headers: { 'X-A': '1', 'WWW-Authenticate': 'Bearer' }, multiValueHeaders: { warning: ['a', 'b'], 'x-a': ['0'] }, body: 'ü' }`,
    )
    expect(response.status).toBe(201)
    expect(response.headers.get('warning')).toBe('a, b')
    expect(response.headers.get('x-a')).toBe('0, 1')
    expect(response.headers.get('www-authenticate')).toBeNull()
    expect(response.headers.get('x-amzn-remapped-www-authenticate')).toBe('Bearer')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-length')).toBe('2')
    expect(await response.text()).toBe('ü')
  })

  test('decode base64 only when Accept starts with a binary type', async () => {
    const value = `{ isBase64Encoded: true, body: 'aGk=' }`
    expect(await (await answer(value)).response.text()).toBe('aGk=')
    const binary = await answer(value, { Accept: 'application/octet-stream, application/json' })
    expect(await binary.response.text()).toBe('hi')
  })

  test('are compressed when they are large and the client accepts it', async () => {
    const value = `{ body: 'a'.repeat(1000) }`
    const { response } = await answer(value)
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(await response.text()).toBe('a'.repeat(1000))
    expect((await answer(`{ body: 'a'.repeat(999) }`)).response.headers.get('content-encoding')).toBeNull()
    const plain = await answer(value, { 'Accept-Encoding': 'identity' })
    expect(plain.response.headers.get('content-encoding')).toBeNull()
    expect(await plain.response.text()).toBe('a'.repeat(1000))
  })

  test.each(cases.bodies)('are a 502 without details for %s', async (value) => {
    const { response, reports } = await answer(value)
    expect(response.status).toBe(502)
    expect(await response.text()).toBe('{"message":"Internal server error"}')
    expect(reports).toHaveLength(1)
  })

  test('are a 504 after the integration timeout and a 502 after the function timeout', async () => {
    const source = 'export const handler = () => new Promise(() => {})'
    const { url } = await serve({
      slow: { source, routes: ['GET /slow'], public: true, integrationTimeout: 20 },
      limited: { source, routes: ['GET /limited'], public: true, timeout: 0.02 },
    })
    expect((await fetch(`${url}/slow`)).status).toBe(504)
    expect((await fetch(`${url}/limited`)).status).toBe(502)
  })

  // Source of the status: "Handling Lambda errors with an API Gateway API". The type is INTEGRATION_FAILURE here.
  test('are an integration failure while a function runs as often as its reserved concurrency', async () => {
    const source = `export const handler = async () => {
      globalThis.arrived()
      await globalThis.gate
      return {}
    }`
    const arrived = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    Object.assign(globalThis, { arrived: arrived.resolve, gate: gate.promise })
    const responses = {
      INTEGRATION_FAILURE: {
        statusCode: '503',
        responseParameters: { 'gatewayresponse.header.Retry-After': 'context.authorizer.retryAfter' },
      },
    }
    const allowing = `return { principalId: 'a', policyDocument: ${policy('Allow')}, context: { retryAfter: '7' } }`
    const { url } = await serve(
      { authorizer: authorizer(allowing), one: { source, routes: ['GET /a'], concurrency: 1 } },
      { responses },
    )
    const first = fetch(`${url}/a`)
    await arrived.promise
    const second = await fetch(`${url}/a`)
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '7'])
    gate.resolve()
    expect((await first).status).toBe(200)
    expect((await fetch(`${url}/a`)).status).toBe(200)
  })

  test('can use the remaining time and the name of the function', async () => {
    const source = `export const handler = async (event, context) => ({
      body: JSON.stringify([context.functionName, context.memoryLimitInMB, context.getRemainingTimeInMillis() > 9000]) })`
    const { url } = await serve({ one: { source, routes: ['GET /a'], public: true } })
    expect(await json(await fetch(`${url}/a`))).toEqual(['keyplane-dev-one', '512', true])
  })
})

test('the time of a request and of its function begins when the bundle is imported', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const asked = Promise.withResolvers<void>()
  const complete = Promise.withResolvers<void>()
  const source = `export const handler = async (event, context) => ({
    body: JSON.stringify([event.requestContext.requestTimeEpoch, context.getRemainingTimeInMillis()]) })`
  const { url } = await serve(
    { one: { source, routes: ['GET /a'], public: true, timeout: 10 } },
    {
      bundled: () => {
        asked.resolve()
        return complete.promise
      },
    },
  )
  const answer = fetch(`${url}/a`)
  await asked.promise
  vi.advanceTimersByTime(60_000)
  complete.resolve()
  expect(await json(await answer)).toEqual([Date.now(), 10_000])
})

describe('limits', () => {
  test('refuse an unknown route', async () => {
    const { url } = await serve({ one: { source: echo, routes: ['GET /a'], public: true } })
    const response = await fetch(`${url}/b`)
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual({ message: 'Missing Authentication Token' })
  })

  test('refuse a body over 10 MB or over the payload limit of a function with 413', async () => {
    const { url } = await serve({
      one: { source: `export const handler = async () => ({})`, routes: ['POST /a'], public: true },
    })
    const post = async (bytes: number) => (await fetch(`${url}/a`, { method: 'POST', body: 'a'.repeat(bytes) })).status
    expect(await post(5 * 1024 * 1024)).toBe(200)
    expect(await post(7 * 1024 * 1024)).toBe(413)
    // Before any other check.
    const body = 'a'.repeat(10 * 1024 * 1024 + 1)
    expect((await fetch(`${url}/unknown`, { method: 'POST', body })).status).toBe(413)
  })
})

const streaming = (body: string): FunctionFixture => ({
  source: `export const handler = awslambda.streamifyResponse(async (event, stream, context) => { ${body} })`,
  routes: ['GET /s'],
  streams: true,
  public: true,
})
const from = `stream = awslambda.HttpResponseStream.from(stream, { statusCode: 202, headers: { 'Content-Type': 'text/plain' }, cookies: ['a=1', 'b=2'] });`

describe('streaming', () => {
  test('sends the metadata, then the body as it is written', async () => {
    const { url } = await serve({
      s: streaming(
        `${from} stream.write('one'); globalThis.proceed = () => { stream.end('two') }; await new Promise((r) => stream.on('finish', r))`,
      ),
    })
    const response = await fetch(`${url}/s`)
    expect(response.status).toBe(202)
    expect(response.headers.get('content-type')).toBe('text/plain')
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('one')
    Reflect.get(globalThis, 'proceed')()
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('two')
    expect((await reader.read()).done).toBe(true)
  })

  test.each([
    ['writes no metadata', `stream.write('x'); stream.end()`],
    ['ends with a body that was never written', `${from} stream.end('x')`],
    ['throws before the first byte', `throw new Error('no')`],
    [
      'has a status that is none',
      `awslambda.HttpResponseStream.from(stream, { statusCode: 42 }).write('x'); stream.end()`,
    ],
  ])('returns 502 when the function %s', async (_, body) => {
    const { url, reports } = await serve({ s: streaming(body) })
    expect((await fetch(`${url}/s`)).status).toBe(502)
    expect(reports).toHaveLength(1)
  })

  test('closes the connection after a failure that follows the first byte', async () => {
    const { url } = await serve({ s: streaming(`${from} stream.write('one'); throw new Error('no')`) })
    await expect(fetch(`${url}/s`).then((response) => response.text())).rejects.toThrow()
  })

  test('returns 502 for a buffered handler behind a streaming route and the reverse', async () => {
    const { source } = streaming(`${from} stream.write('x'); stream.end()`)
    const { url, reports } = await serve({
      buffered: { source: echo, routes: ['GET /a'], streams: true, public: true },
      streamed: { source, routes: ['GET /b'], public: true },
    })
    expect((await fetch(`${url}/a`)).status).toBe(502)
    expect((await fetch(`${url}/b`)).status).toBe(502)
    expect(reports[0]).toContain('the stream ended without metadata')
    expect(reports[1]).toContain('a streaming function needs a streaming route')
  })

  test('ends the function when the client disconnects', async () => {
    const { url, reports } = await serve({
      s: streaming(
        `${from} stream.write('one'); await new Promise((r) => stream.once('close', r)); globalThis.left(stream.destroyed)`,
      ),
    })
    const left = new Promise((resolve) => Object.assign(globalThis, { left: resolve }))
    const client = request(`${url}/s`).on('error', () => {})
    client.end()
    const [response] = await once(client, 'response')
    await once(response, 'data')
    client.destroy()
    expect(await left).toBe(true)
    expect(reports).toEqual([])
  })

  test('pauses the function while the client does not read', async () => {
    const { url } = await serve({
      s: streaming(
        `${from} let written = 0; while (stream.write(Buffer.alloc(65536)) && written++ < 10000); globalThis.held(written); stream.end()`,
      ),
    })
    const held = new Promise<number>((resolve) => Object.assign(globalThis, { held: resolve }))
    const { port } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
    socket.pause()
    socket.write('GET /s HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(await held).toBeLessThan(10000)
    socket.destroy()
  })
})

describe('life cycle', () => {
  test('sets the environment with the default settings, and restores it when the gateway closes', async () => {
    const source = `const loaded = process.env.KEYPLANE_TEST_TABLE; export const handler = async () => ({ body: loaded + process.env.MAX_TOKEN_TTL_SECONDS + process.env.BASE_PATH })`
    const environment = { KEYPLANE_TEST_TABLE: 'objects', BASE_PATH: '/other' }
    const gateway = await start({ one: { source, routes: ['GET /a'], public: true } }, { environment })
    expect(await (await fetch(`${gateway.url}/a`)).text()).toMatch(/^objects\d+\/other$/)
    await gateway.close()
    expect(process.env).not.toHaveProperty('KEYPLANE_TEST_TABLE')
  })

  test('reads the environment again after a restart', async () => {
    const source = `const loaded = process.env.KEYPLANE_TEST_TABLE; export const handler = async () => ({ body: loaded })`
    const one = { source, routes: ['GET /a'], public: true }
    const environment = { KEYPLANE_TEST_TABLE: 'first' }
    const { url, deployment, bundlesDir } = await serve({ one }, { environment })
    expect(await (await fetch(`${url}/a`)).text()).toBe('first')
    const again = await startGateway({ deployment, bundlesDir, environment: { KEYPLANE_TEST_TABLE: 'second' } })
    expect(await (await fetch(`${again.url}/a`)).text()).toBe('second')
    await again.close()
  })

  // threat: local-4
  test('refuses a route that would be served without its authorizer', () =>
    expect(start({ one: { source: echo, routes: ['GET /a'] } })).rejects.toThrow('GET /a needs an authorizer'))

  test('finishes requests and ends streams cleanly on close', async () => {
    const gateway = await start({
      slow: {
        source: `export const handler = () => new Promise((resolve) => { globalThis.finish = () => resolve({ body: 'done' }); globalThis.arrived() })`,
        routes: ['GET /slow'],
        public: true,
      },
      s: streaming(`${from} stream.write('one'); await new Promise((r) => stream.once('close', r))`),
    })
    const arrived = new Promise<void>((resolve) => Object.assign(globalThis, { arrived: resolve }))
    const slow = fetch(`${gateway.url}/slow`)
    const stream = await fetch(`${gateway.url}/s`)
    await arrived
    const closed = gateway.close(0.05)
    Reflect.get(globalThis, 'finish')()
    expect(await (await slow).text()).toBe('done')
    expect(await stream.text()).toBe('one')
    await closed
    expect(gateway.reports).toEqual([])
    await expect(fetch(gateway.url)).rejects.toThrow()
  })

  test('runs functions that read a stream on a timer with a scheduled event', async () => {
    const source = `export const handler = async (event) => { globalThis.ran(event) }`
    const ran = new Promise((resolve) => Object.assign(globalThis, { ran: resolve }))
    await serve({ collector: { source, stream: 'changes' } }, { streamSeconds: 0.01 })
    expect(await ran).toMatchObject({
      source: 'aws.events',
      'detail-type': 'Scheduled Event',
      resources: ['arn:aws:events:eu-central-1:000000000000:rule/collector'],
    })
  })

  test('runs them at most as often as Lambda collects records for them', async () => {
    const source = `export const handler = async () => { globalThis.count++ }`
    const counter = Object.assign(globalThis, { count: 0 })
    const fired = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => fired.mockRestore())
    await serve({ collector: { source, stream: 'changes' }, slow: { source, stream: 'wakes' } })
    const delays = fired.mock.calls.map(([, milliseconds]) => milliseconds)
    expect(delays).toEqual(expect.arrayContaining([1000, 2000]))
    expect(counter.count).toBe(0)
  })

  test('reports a failed schedule', async () => {
    let reported: (message: string) => void = () => {}
    const message = new Promise<string>((resolve) => {
      reported = resolve
    })
    const source = `export const handler = async () => { throw new Error('no') }`
    await serve({ collector: { source, stream: 'changes' } }, { streamSeconds: 0.01, report: (text) => reported(text) })
    expect(await message).toBe('schedule of collector failed')
  })
})
