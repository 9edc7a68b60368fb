/** What the command line does with servers and networks that do not answer as the API does. */

import http from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { repeatedly } from '../../../clients/cli/src/api/call.ts'
import { NetworkError } from '../../../clients/cli/src/api/https.ts'
import { listening } from '../../support/listening.ts'
import { listeningOverTls } from '../../support/listeningovertls.ts'
import { type CommandLine, createCommandLine, says } from './commandline.ts'
import { givenClock, testIo } from './credentials/testio.ts'

const KEY = `mpk_${'0'.repeat(43)}34O1xt`
const SELF = { apiVersion: 'management.platform/v1', kind: 'Self', status: { subject: 'alice', accessKey: 'ci' } }

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, attempt: number) => void

let server: Awaited<ReturnType<typeof listeningOverTls>>
let handler: Handler
let attempts: { method?: string | undefined; url?: string | undefined; authorization?: string | undefined }[]
let cli: CommandLine
let env: Record<string, string>
beforeAll(async () => {
  server = await listeningOverTls((request, response) => {
    request.resume()
    const { method, url, headers } = request
    attempts.push({ method, url, authorization: headers.authorization })
    handler(request, response, attempts.length)
  })
  cli = await createCommandLine()
  env = {
    KEYPLANE_URL: `${server.url}/kubernetes/management`,
    KEYPLANE_KEY: KEY,
    KEYPLANE_CA: await cli.write('ca.crt', server.certificateAuthority),
  }
})
afterAll(async () => {
  await server?.stop()
  await cli?.stop()
})
beforeEach(() => {
  attempts = []
})

const answer =
  (code: number, body: unknown, headers: Record<string, string | string[]> = {}): Handler =>
  (_, response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(text)
  }
const status = (code: number, more: object = {}) => ({
  kind: 'Status',
  apiVersion: 'v1',
  code,
  message: `message ${code}`,
  ...more,
})
/** Waits for a repetition take no time. */
const whoami = () => cli.run(['whoami'], { env, clock: givenClock() })
const create = () => cli.run(['keys', 'create', 'ci', '--ttl', '1d'], { env, clock: givenClock() })

describe('an answer that is not of this API', () => {
  test.each<[string, Handler, RegExp]>([
    [
      'a page of a captive portal',
      answer(200, '<!DOCTYPE html><p>Pay here', { 'content-type': 'text/html' }),
      /answered 200 with a web page.*\n.*open the address in a browser/,
    ],
    [
      'a page of a proxy',
      answer(502, '<html>Bad gateway', { 'content-type': 'text/html' }),
      /answered 502 with a web page/,
    ],
    [
      'the refusal of API Gateway',
      answer(403, { message: 'Forbidden' }),
      /API Gateway has no such path at .*\n.*stage or the base path of the URL is wrong/,
    ],
    [
      'no JSON',
      answer(200, 'OK', { 'content-type': 'text/plain' }),
      /something that is not an answer of this API\.\nCheck the URL: it looks like https:/,
    ],
    ['an empty text', answer(200, ''), /something that is not an answer of this API/],
    ['an object of another service', answer(200, { ok: true }), /answered, but not as this API does/],
    ['another JSON value', answer(200, '[1]'), /something that is not an answer of this API/],
  ])('is explained: %s', async (_, given, message) => {
    handler = given
    expect(await whoami()).toMatchObject(says(1, message, ''))
  })

  // threat: cli-2
  test('is not followed when it is a redirect', async () => {
    let stolen = 0
    const other = http.createServer((_, response) => {
      stolen++
      response.end('{}')
    })
    const { url, stop } = await listening(other)
    handler = answer(307, '', { location: `${url}/` })
    const { code, stderr } = await whoami()
    await stop()
    expect([code, stolen]).toEqual([1, 0])
    expect(stderr).toMatch(/redirects to http:\/\/127.0.0.1:\d+\/\. The key was not sent there\./)
  })

  test('is not read to its end when it has no end', async () => {
    handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = ' '.repeat(1024 * 1024)
      const more = () => {
        while (response.write(chunk) && !response.destroyed);
      }
      response.on('drain', more)
      more()
    }
    expect(await whoami()).toMatchObject(says(1, 'sends more than 64 MiB', ''))
  })

  // threat: cli-4
  test('cannot change the terminal or show the key', async () => {
    handler = answer(400, status(400, { message: `bad \u001b[2J${KEY}\n\u202eline` }), {
      warning: ['299 - "one \u009b31m"', '299 - "quoted \\"two\\""', '199 - "other"', '299 - "one \u009b31m"'],
    })
    expect(await whoami()).toMatchObject({
      code: 4,
      stderr: 'Warning: one \\u{9b}31m\nWarning: quoted "two"\nError: bad \\u{1b}[2J<redacted>\n\\u{202e}line\n',
    })
  })
})

describe('a refusal', () => {
  test('is printed with causes that its message lacks, and exits with 4', async () => {
    const causes = [
      { field: 'spec.ttl', message: 'in the message 422' },
      { field: 'spec.x', message: 'must be y' },
      { message: 'message 422' },
    ]
    handler = answer(422, status(422, { details: { causes } }))
    expect(await whoami()).toEqual({
      code: 4,
      stdout: '',
      stderr: 'Error: message 422\n  spec.ttl: in the message 422\n  spec.x: must be y\n',
    })
  })

  test('of the key says what to do', async () => {
    handler = answer(401, status(401))
    expect(await whoami()).toMatchObject({
      code: 4,
      stderr:
        'Error: message 401\nLog in with a valid key: keyplane login URL. If KEYPLANE_URL is set, KEYPLANE_KEY needs one.\n',
    })
  })

  test('with hostile causes is still printed', async () => {
    handler = answer(403, {
      kind: 'Status',
      message: 7,
      details: { causes: [null, 3, { message: {} }, { field: [], message: 'ok' }] },
    })
    const { code, stderr } = await whoami()
    expect([code, stderr]).toEqual([4, expect.stringContaining('ok')])
    expect(stderr).not.toContain('defect')
  })
})

describe('a failure that may pass', () => {
  test('is repeated: a throttled request, also a create', async () => {
    handler = (request, response, attempt) =>
      attempt < 3
        ? answer(429, status(429), { 'retry-after': '0' })(request, response, attempt)
        : answer(200, SELF)(request, response, attempt)
    expect(await whoami()).toMatchObject({ code: 0 })
    expect(attempts).toHaveLength(3)
  })

  test('is repeated: a request that changes nothing, after a lost connection and a 503 with Retry-After', async () => {
    handler = (request, response, attempt) => {
      if (attempt === 1) request.socket.destroy()
      else if (attempt === 2) answer(503, status(503), { 'retry-after': '0' })(request, response, attempt)
      else answer(200, SELF)(request, response, attempt)
    }
    expect(await whoami()).toMatchObject({ code: 0 })
    expect(attempts).toHaveLength(3)
  })

  // threat: cli-5
  test.each<[string, Handler]>([
    ['a lost connection', (request) => void request.socket.destroy()],
    ['a 504', answer(504, status(504))],
    ['a 503', answer(503, status(503), { 'retry-after': '0' })],
  ])('is not repeated for a create, which says that the key may exist: %s', async (_, given) => {
    handler = given
    const { code, stdout, stderr } = await create()
    expect([code, stdout, attempts.length]).toEqual([1, '', 1])
    expect(stderr).toContain('The key may have been created, but its value is lost.')
  })

  test('is reported for a create that a full server did not make, and the key does not exist', async () => {
    handler = answer(507, status(507))
    const { code, stderr } = await create()
    expect([code, attempts.length]).toEqual([1, 1])
    expect(stderr).toContain('Its administrators must make room on its disk.')
    expect(stderr).not.toContain('may have been created')
  })

  test('is reported after four attempts', async () => {
    handler = answer(429, status(429), { 'retry-after': '0' })
    expect(await whoami()).toMatchObject(says(4, 'The server is busy.'))
    expect(attempts).toHaveLength(4)
  })

  test('is not waited for longer than half a minute', async () => {
    handler = answer(429, status(429), { 'retry-after': '3600' })
    expect(await whoami()).toMatchObject({ code: 4 })
    expect(attempts).toHaveLength(1)
  })
})

describe('the network', () => {
  const at = (url: string) => cli.run(['whoami'], { env: { ...env, KEYPLANE_URL: url }, clock: givenClock() })

  test('says that nothing listens', async () =>
    expect(await at('https://127.0.0.1:1')).toMatchObject(says(1, 'Nothing listens at 127.0.0.1:1.')))

  test('says that a host cannot be found', async () =>
    expect(await at('https://nothing.invalid')).toMatchObject(
      says(1, /The host nothing.invalid cannot be found|failed/),
    ))

  test('says that a port speaks no HTTPS', async () => {
    const { port, stop } = await listening(http.createServer())
    const { code, stderr } = await at(`https://127.0.0.1:${port}`)
    await stop()
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not speak HTTPS on this port')])
  })

  test('says that a certificate is for another host', async () => {
    const other = await at(`https://127.0.0.2:${server.port}`)
    const listening = other.stderr.includes('Nothing listens')
    expect([other.code, other.stderr]).toEqual([
      1,
      expect.stringContaining(listening ? 'Nothing listens' : 'is for another host'),
    ])
  })
})

test('a proxy that Node.js does not speak is named where nothing answers', async () => {
  const ran = await cli.spawn(['whoami'], {
    env: { ...env, KEYPLANE_URL: 'https://127.0.0.1:1/kubernetes/management', ALL_PROXY: 'socks5://proxy.example' },
  })
  expect(ran).toMatchObject(says(1, 'ALL_PROXY names socks5://, a proxy that Node.js does not speak.'))
})

test('a proxy is used when Node.js uses it', async () => {
  handler = answer(200, SELF)
  let tunnels = 0
  const proxy = http.createServer()
  proxy.on('connect', ({ url = '' }, client) => {
    tunnels++
    const upstream = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [upstream, client]) socket.on('error', () => socket.destroy())
  })
  const { url: address, stop } = await listening(proxy)
  const ran = await cli.spawn(['whoami', '-o', 'name'], {
    env: { ...env, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: address },
  })
  await stop()
  expect([ran, tunnels]).toEqual([{ code: 0, stdout: 'ci\n', stderr: '' }, 1])
})

describe('a server that does not answer', () => {
  const { io, said } = testIo(givenClock())
  const silence = { kind: 'silent', text: 'x did not answer in time.', isPassing: true } as const
  const ask = (sendOnce: () => Promise<never>) =>
    repeatedly(io, { repeatable: true, isSafe: () => true }, sendOnce).catch((error: Error) => error.message)

  test('is waited for with a message, and once: a limit of 45 seconds passes with each request', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let asked = 0
    const answered = ask(async () => {
      asked++
      await vi.advanceTimersByTimeAsync(44_000)
      throw new NetworkError(silence, undefined)
    })
    await answered.finally(() => vi.useRealTimers())
    expect([await answered, asked, said.err]).toEqual([
      'x did not answer in time.',
      1,
      'The server has not answered for 10 seconds. Still waiting.\n',
    ])
  })

  test('is asked again after a failure that may pass', async () => {
    let asked = 0
    const closed = { kind: 'closed', text: 'closed', isPassing: true } as const
    await ask(async () => {
      asked++
      throw new NetworkError(closed, undefined)
    })
    expect(asked).toBe(4)
  })
})

test('report-leak and revoke do not wait for a certificate to become valid', async () => {
  const { KEYPLANE_CA: _, ...rest } = env
  for (const args of [['report-leak'], ['revoke', '--all', '--yes']]) {
    const clock = givenClock()
    const { code, stderr } = await cli.run(args, { env: rest, clock, input: KEY })
    expect([args, code, clock.elapsed()]).toEqual([args, 1, 0])
    expect(stderr).toMatch(/^Error: .* not signed by an authority.*\n.*: keyplane login URL --ca FILE, or KEYPLANE_CA/m)
    if (args[0] === 'report-leak') expect(stderr).toMatch(/\nNo key is reported\. Repeat the command/)
  }
})

// threat: cli-2
test('a certificate is verified, whatever the environment says', async () => {
  handler = answer(200, SELF)
  const { KEYPLANE_CA: _, ...rest } = env
  const { code, stderr } = await cli.spawn(['whoami'], { env: { ...rest, NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
  expect([code, stderr, attempts]).toEqual([1, expect.stringContaining('not signed by an authority'), []])
})

test('Ctrl-C ends a request with 130', async () => {
  const arrived = new Promise<void>((resolve) => {
    handler = () => resolve()
  })
  const running = await cli.start(['whoami'], { env })
  await arrived
  running.kill('SIGINT')
  expect(await running.ended).toEqual({ code: 130, stdout: '', stderr: '' })
})

test('SIGTERM ends a wait for a retry with 143', async () => {
  const arrived = new Promise<void>((resolve) => {
    handler = (...call) => {
      answer(429, status(429), { 'retry-after': '29' })(...call)
      resolve()
    }
  })
  const running = await cli.start(['whoami'], { env })
  await arrived
  running.kill('SIGTERM')
  expect((await running.ended).code).toBe(143)
})

test('a key of the environment is sent to the server of the environment, trimmed', async () => {
  handler = answer(200, SELF)
  await cli.ok(['whoami'], { env: { ...env, KEYPLANE_KEY: ` ${KEY}\n` } })
  expect(attempts).toEqual([
    {
      method: 'POST',
      url: '/kubernetes/management/apis/management.platform/v1/selves',
      authorization: `Bearer ${KEY}`,
    },
  ])
})

// threat: rotation-9
test('a request that cannot be sent leaves no timer that keeps the process alive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const sent = repeatedly(testIo({}).io, { repeatable: true, isSafe: () => true }, () => {
    throw new Error('cannot be sent')
  })
  await expect(sent).rejects.toThrow('cannot be sent')
  const left = vi.getTimerCount()
  vi.useRealTimers()
  expect(left).toBe(0)
})
