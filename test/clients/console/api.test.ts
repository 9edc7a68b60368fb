/** Requests of the console to a server that answers as told, and errors in words. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ApiSettings, createApi } from '../../../clients/console/src/api/client.ts'
import { freshWarnings } from '../../../clients/console/src/api/freshwarnings.ts'
import { listAll } from '../../../clients/console/src/api/lists.ts'
import { paths } from '../../../clients/console/src/api/paths.ts'
import { ApiError, errorWords, NetworkError } from '../../../clients/console/src/api/status.ts'
import { listening } from '../../support/listening.ts'

type Reply = (request: IncomingMessage, response: ServerResponse) => void

let reply: Reply
const received: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method = '', url = '', headers } = request
  received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
  reply(request, response)
})
let root: URL

beforeAll(async () => {
  const { url, stop } = await listening(server)
  root = new URL('/prod/kubernetes/management/', url)
  return stop
})

const json =
  (code: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (_, response) =>
    void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const api = (more: Partial<ApiSettings> = {}) => createApi({ root, key: 'a-key', ...more })

describe('a request', () => {
  test('has the key in a header alone, and its body as JSON', async () => {
    reply = json(201, { kind: 'OwnedAccessKey' })
    expect(await api().send(paths.key('a/ü'), { method: 'POST', body: { spec: {} }, dryRun: true })).toEqual({
      kind: 'OwnedAccessKey',
    })
    const sent = received.at(-1)
    expect(sent).toMatchObject({
      method: 'POST',
      url: '/prod/kubernetes/management/apis/management.platform/v1/ownedaccesskeys/a%2F%C3%BC?dryRun=All',
      body: '{"spec":{}}',
      headers: { authorization: 'Bearer a-key', accept: 'application/json', 'content-type': 'application/json' },
    })
    expect(JSON.stringify({ ...sent, headers: { ...sent?.headers, authorization: '' } })).not.toContain('a-key')
  })

  test('changes objects with a merge patch, or a JSON patch if it is a list', async () => {
    reply = json(200, {})
    await api().send(paths.key('a'), { method: 'PATCH', body: { spec: { disabled: true } } })
    await api().send(paths.key('a'), { method: 'PATCH', body: [{ op: 'remove', path: '/spec/scope' }] })
    expect(received.slice(-2).map(({ headers }) => headers['content-type'])).toEqual([
      'application/merge-patch+json',
      'application/json-patch+json',
    ])
  })

  test('throws the Status of a refusal', async () => {
    const status = { kind: 'Status' as const, message: 'not you', reason: 'Forbidden', code: 403 }
    reply = json(403, status)
    await expect(api().send('x')).rejects.toEqual(new ApiError(403, status))
  })

  test('tells the end of the session with the message of a 401', async () => {
    const ends: string[] = []
    reply = json(401, { message: 'the access key has expired' })
    await expect(api({ onEnd: (message) => ends.push(message) }).send('x')).rejects.toThrow('has expired')
    expect(ends).toEqual(['the access key has expired'])
  })

  test.each([
    ['no JSON', 502, '<html>Bad Gateway</html>'],
    ['a JSON value that is no object', 200, '"x"'],
    ['nothing', 200, ''],
  ])('fails for an answer that is %s', async (_, code, text) => {
    reply = (_request, response) => void response.writeHead(code).end(text)
    await expect(api().send('x')).rejects.toEqual(new ApiError(code, {}))
  })

  test.each<[string, Reply]>([
    ['is cut off', (request) => void request.socket.destroy()],
    [
      'is cut off in the middle',
      (request, response) =>
        void response.writeHead(200, { 'content-length': '100' }).write('{"a":', () => request.socket.destroy()),
    ],
    ['leads elsewhere', (_, response) => void response.writeHead(302, { location: 'https://elsewhere.example' }).end()],
  ])('is a network error when its answer %s', async (_, how) => {
    reply = how
    await expect(api().send('x')).rejects.toThrow(NetworkError)
  })

  test('that the console ends itself is not a network error', async () => {
    const own = new AbortController()
    reply = () => own.abort()
    await expect(api().send('x', { signal: own.signal })).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    )
  })
})

describe('listAll', () => {
  test('reads all pages', async () => {
    reply = (request, response) => {
      const next = new URL(request.url ?? '', root).searchParams.get('continue')
      json(200, { metadata: next ? {} : { continue: 'a+b' }, items: [next ?? 'first'] })(request, response)
    }
    expect(await listAll(api(), 'x', new AbortController().signal)).toEqual({ items: ['first', 'a+b'], more: false })
  })

  test('tells what it has read while more follows', async () => {
    reply = (request, response) => {
      const next = Number(new URL(request.url ?? '', root).searchParams.get('continue') ?? 1)
      json(200, { metadata: next < 3 ? { continue: String(next + 1) } : {}, items: [next] })(request, response)
    }
    const parts: unknown[] = []
    const all = await listAll(api(), 'x', new AbortController().signal, (part) => parts.push(part))
    expect(parts).toEqual([
      { items: [1], more: true, isPart: true },
      { items: [1, 2], more: true, isPart: true },
    ])
    expect(all).toEqual({ items: [1, 2, 3], more: false })
  })

  test('stops after 2,500 objects and says so', async () => {
    const items = Array.from({ length: 500 }, (_, index) => index)
    reply = json(200, { metadata: { continue: 'more' }, items })
    const before = received.length
    const { items: read, more } = await listAll(api(), 'x', new AbortController().signal)
    expect([read.length, more, received.length - before]).toEqual([2500, true, 5])
  })
})

describe('warnings', () => {
  test('of a read are told once, whatever the time in them is', () => {
    const told: string[] = []
    const warn = freshWarnings((text) => told.push(text))
    warn(['the key expires in 3d (2026-11-25)'], true)
    warn(['the key expires in 2d23h (2026-11-25)', 'other'], true)
    warn(['the key expires in 2d22h (2026-11-25)'], false)
    expect(told).toEqual(['the key expires in 3d (2026-11-25)', 'other'])
  })

  test('of a change are always told', () => {
    const told: string[] = []
    const warn = freshWarnings((text) => told.push(text))
    warn(['key 1 never expires'], false)
    warn(['key 2 never expires'], false)
    expect(told).toEqual(['key 1 never expires', 'key 2 never expires'])
  })
})

describe('errors in words', () => {
  test('name the fields of an invalid request', () => {
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.ttl', message: 'Invalid value: -1' }]
    expect(errorWords(new ApiError(422, { message: 'all of it', details: { causes } }))).toEqual({
      title: 'Some of the values are not valid.',
      details: ['spec.ttl: Invalid value: -1'],
    })
  })

  test('have the message of a refusal and what to do next', () =>
    expect(errorWords(new ApiError(403, { message: 'spec.scope does not allow it' }))).toEqual({
      title: 'Your access key does not allow this.',
      details: ['spec.scope does not allow it'],
      next: 'Ask who gave you the key, or sign in with another one.',
    }))

  test.each([
    [new NetworkError('x'), 'The server cannot be reached.'],
    [new ApiError(599, {}), 'The server failed.'],
    [new ApiError(401, { message: 'no' }), 'This access key is not accepted.'],
    [new ApiError(401, { message: 'access key has expired' }), 'This access key has expired.'],
    [new ApiError(401, { message: 'access key is disabled' }), 'This access key is disabled.'],
    [new ApiError(403, { message: 'access key is disabled' }), 'Your access key does not allow this.'],
    [new TypeError('x is undefined'), 'The console failed.'],
    ['thrown', 'The console failed.'],
  ])('exist for %s', (error, title) => expect(errorWords(error).title).toBe(title))
})
