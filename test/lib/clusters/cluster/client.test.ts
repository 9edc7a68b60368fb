import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createClusterClient } from '../../../../lib/clusters/cluster/client.ts'
import type { Credentials } from '../../../../lib/clusters/cluster/credentials.ts'
import type { ClusterFailure } from '../../../../lib/clusters/cluster/failure.ts'
import { describeError } from '../../../../lib/engine/meta/errors/describe.ts'
import { listening } from '../../../support/listening.ts'
import { testAuthority } from '../authority.ts'
import { type Play, useFaultyClusters } from '../faultycluster.ts'
import cases from './vectors/client.cases.json' with { type: 'json' }

const clusters = useFaultyClusters()
const { start } = clusters
const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests/x'
const neverAborts = () => new AbortController().signal
const get = (credentials: Credentials, signal = neverAborts()) =>
  createClusterClient('p-shop/dev', credentials).send({ method: 'GET', path: PATH, signal })

/** Expects the failure, with the name of the cluster and without any text from the other side, even in the log. */
async function expectFailure(answer: Promise<unknown>, failure: ClusterFailure, code: number): Promise<void> {
  const error = await answer.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toMatchObject({ failure, status: { code, status: 'Failure' } })
  expect(error.status.message).toContain('virtual cluster "p-shop/dev"')
  expect(JSON.stringify(error.status)).not.toMatch(/hunter2|cluster-administrator-token|127\.0\.0\.1/)
  expect(describeError(error)).not.toMatch(/hunter2|cluster-administrator-token/)
}

describe('sending a request', () => {
  test('returns the object with a bearer token', async () => {
    const cluster = await start({ plays: { read: ({ answer }) => answer(200, { kind: 'A' }) } })
    expect(await get(cluster.credentials)).toEqual({ kind: 'A' })
    expect(cluster.calls).toEqual([{ step: 'read', line: `GET ${PATH}`, body: undefined }])
  })

  test('returns the object with a client certificate', async () => {
    const cluster = await start({ plays: { read: ({ answer }) => answer(200, {}) } })
    const { token, ...rest } = cluster.credentials
    expect(token).not.toBe('')
    expect(await get({ ...rest, clientCertificate: await clusters.authority.pair({ user: 'administrator' }) })).toEqual(
      {},
    )
    await expectFailure(get(rest), 'unauthorized', 502)
  })

  test('accepts a base path and a host name', async () => {
    const cluster = await start({ plays: { read: ({ answer }) => answer(200, {}) } })
    const server = `${cluster.url.replace('127.0.0.1', 'localhost')}/clusters/a/`
    await get({ ...cluster.credentials, server })
    expect(cluster.calls[0]?.line).toBe(`GET /clusters/a${PATH}`)
  })

  test('sends a JSON body with its exact length', async () => {
    const cluster = await start({ plays: { create: ({ answer, body }) => answer(201, { echo: body }) } })
    const client = createClusterClient('p-shop/dev', cluster.credentials)
    const sent = { name: 'ü'.repeat(1000) }
    expect(await client.send({ method: 'POST', path: PATH, body: sent, signal: neverAborts() })).toEqual({ echo: sent })
  })
})

describe('answers of the cluster', () => {
  const leak = { kind: 'Status', message: 'password hunter2' }
  test.each(cases.statuses as [number, ClusterFailure, number][])('%d is %s', async (code, failure, status) => {
    const elsewhere = await start()
    const read: Play = ({ response }) => {
      response
        .writeHead(code, { Location: elsewhere.url, 'Content-Type': 'application/json' })
        .end(JSON.stringify(leak))
    }
    const cluster = await start({ plays: { read } })
    await expectFailure(get(cluster.credentials), failure, status)
    expect(elsewhere.calls).toEqual([])
  })

  const raw =
    (type: string, text: string): Play =>
    ({ response }) => {
      response.writeHead(200, { 'Content-Type': type }).end(text)
    }
  // threat: virtual-4
  test.each<[string, Play]>([
    ['no JSON', raw('application/json', '<html>hunter2')],
    ['half of an object', raw('application/json', '{"a":"hunter2"')],
    ['nothing', raw('application/json', '')],
    ['a list', raw('application/json', '[1]')],
    ['null', raw('application/json', 'null')],
    ['a page', raw('text/html', '{}')],
    ['another JSON', raw('application/json-seq', '{}')],
    [
      'an object that is nested too deeply',
      raw('application/json', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
    ],
    ['no HTTP', ({ response }) => void response.socket?.end('hunter2\r\n\r\n')],
    [
      'another protocol',
      ({ response }) =>
        void response.socket?.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: hunter2\r\n\r\n{}',
        ),
    ],
  ])('%s is an invalid answer', async (_, read) => {
    const cluster = await start({ plays: { read } })
    await expectFailure(get(cluster.credentials), 'garbage', 502)
  })

  // threat: virtual-4
  test('are cut off over the limit, whatever the declared length', async () => {
    const filler = Buffer.alloc(256 * 1024, 'x')
    let sent = 0
    const read: Play = ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      const more = () => {
        sent += filler.length
        if (!response.destroyed && sent < 64 * 1024 * 1024) response.write(filler, more)
      }
      more()
    }
    const cluster = await start({ plays: { read } })
    await expectFailure(get(cluster.credentials), 'too-large', 502)
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
  // threat: virtual-4
  test.each<[string, string, string, ClusterFailure]>([
    ['interim answers', '', 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n', 'too-large'],
    ['permissions to continue', '', 'HTTP/1.1 100 Continue\r\n\r\n', 'too-large'],
    ['empty lines', '', '\r\n', 'too-large'],
    ['single bytes', `${head}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n', 'too-large'],
    ['headers', head, 'X-Y: z\r\n', 'garbage'],
    ['trailers', `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`, 'X-Y: z\r\n', 'garbage'],
    ['extensions of a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n1;`, 'x=y;', 'garbage'],
  ])('unlimited %s are cut off', async (_, begin, again, failure) => {
    const filler = again.repeat(1000)
    let sent = 0
    const read: Play = ({ response: { socket } }) => {
      socket?.on('error', () => undefined).write(begin)
      const more = () => {
        sent += filler.length
        if (socket?.writable && sent < 64 * 1024 * 1024) socket.write(filler, more)
      }
      more()
    }
    const cluster = await start({ plays: { read } })
    await expectFailure(get(cluster.credentials), failure, 502)
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('fail if the connection breaks during the answer', async () => {
    const read: Play = ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' })
      response.write('{"half":', () => response.socket?.destroy())
    }
    const cluster = await start({ plays: { read } })
    await expectFailure(get(cluster.credentials), 'reset', 503)
  })

  test('fail if the connection breaks before the answer', async () => {
    const cluster = await start({ plays: { read: ({ response }) => void response.socket?.destroy() } })
    await expectFailure(get(cluster.credentials), 'reset', 503)
  })

  test('time out without an answer', async () => {
    const controller = new AbortController()
    const cluster = await start({ plays: { read: () => controller.abort() } })
    await expectFailure(get(cluster.credentials, controller.signal), 'timeout', 504)
  })

  // threat: virtual-4
  test('time out with half an answer', async () => {
    const controller = new AbortController()
    const read: Play = ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.write('{"half":', () => controller.abort())
    }
    const cluster = await start({ plays: { read } })
    await expectFailure(get(cluster.credentials, controller.signal), 'timeout', 504)
  })
})

describe('connection failures', () => {
  test('a closed port', async () => {
    const cluster = await start()
    await cluster.close()
    await expectFailure(get(cluster.credentials), 'refused', 503)
  })

  test('an unresolvable name', async () => {
    const cluster = await start()
    await expectFailure(get({ ...cluster.credentials, server: 'https://nobody.invalid' }), 'unknown-host', 503)
  })

  // threat: virtual-3
  test('an untrusted authority', async () => {
    const cluster = await start()
    const other = await testAuthority('another authority')
    await expectFailure(get({ ...cluster.credentials, certificateAuthority: other.certificate }), 'untrusted', 503)
    const { certificateAuthority, ...rest } = cluster.credentials
    expect(certificateAuthority).toBeDefined()
    await expectFailure(get(rest), 'untrusted', 503)
  })

  // threat: virtual-5
  test('a certificate for another name', async () => {
    const cluster = await start({
      server: await clusters.authority.pair({ names: ['api.example.com'], usages: ['1.3.6.1.5.5.7.3.1'] }),
    })
    await expectFailure(get(cluster.credentials), 'wrong-name', 503)
    // The server has received the token and could return it in a message.
    const telling = await start({
      server: await clusters.authority.pair({ names: ['cluster-administrator-token'], usages: ['1.3.6.1.5.5.7.3.1'] }),
    })
    const server = telling.url.replace('127.0.0.1', 'localhost')
    await expectFailure(get({ ...telling.credentials, server }), 'wrong-name', 503)
  })

  test('an expired certificate, and one that is not yet valid', async () => {
    const wish = { names: ['127.0.0.1'], usages: ['1.3.6.1.5.5.7.3.1'] }
    const hour = 3_600_000
    const expired = await clusters.authority.pair({
      ...wish,
      notBefore: new Date(Date.now() - 2 * hour),
      notAfter: new Date(Date.now() - hour),
    })
    const early = await clusters.authority.pair({
      ...wish,
      notBefore: new Date(Date.now() + hour),
      notAfter: new Date(Date.now() + 2 * hour),
    })
    await expectFailure(get((await start({ server: expired })).credentials), 'expired-certificate', 503)
    await expectFailure(get((await start({ server: early })).credentials), 'expired-certificate', 503)
  })

  // threat: virtual-3
  test('verification ignores the environment', async () => {
    const cluster = await start()
    const other = await testAuthority('another authority')
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      await expectFailure(get({ ...cluster.credentials, certificateAuthority: other.certificate }), 'untrusted', 503)
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  test('a server without TLS', async () => {
    const plain = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    const { port, stop } = await listening(plain)
    const cluster = await start()
    const server = `https://127.0.0.1:${port}`
    await expectFailure(get({ ...cluster.credentials, server }), 'tls', 503)
    await stop()
  })
})
