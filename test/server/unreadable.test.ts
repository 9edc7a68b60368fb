/** Tests requests that the local server cannot route, and its explanations. */
import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()

const port = () => Number(new URL(server.root).port)

/** Returns everything that the server sends after these bytes until it closes. */
async function answerTo(socket: Socket, text: string): Promise<string> {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.write(text)
  await once(socket, 'close')
  return received
}

async function overTls(text: string): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port: port(), ca: server.certificateAuthority })
  await once(socket, 'secureConnect')
  return answerTo(socket, text)
}

const statusOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
const head = 'GET /kubernetes/management/apis HTTP/1.1\r\nHost: a\r\n'

test.each([
  ['a line break in the key', `${head}Authorization: Bearer xyz\nzyx\r\n\r\n`],
  ['a line break before the key', `${head}Authorization: Bearer\nxyz\r\n\r\n`],
  ['a NUL in the key', `${head}Authorization: Bearer xyz\0zyx\r\n\r\n`],
])('%s returns a Status that says where to look', async (_, text) => {
  const answer = await overTls(text)
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(answer).toMatch(/\r\nAudit-Id: [0-9a-f-]{36}\r\n/)
  expect(statusOf(answer)).toMatchObject({
    kind: 'Status',
    code: 400,
    reason: 'BadRequest',
    message: expect.stringContaining('a line break'),
  })
  expect(answer).not.toContain('xyz')
})

test('too large headers and text that is not HTTP return a Status', async () => {
  expect(statusOf(await overTls(`${head}A: ${'a'.repeat(40_000)}\r\n\r\n`))).toMatchObject({
    kind: 'Status',
    code: 431,
  })
  expect(statusOf(await overTls('nonsense\r\n\r\n'))).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' })
})

test('a request without TLS returns a message that says so', async () => {
  const answer = await answerTo(connectPlain(port(), '127.0.0.1'), head)
  expect(answer).toBe('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n')
})

test('a silent client does not keep the server from closing', async () => {
  const other = await startServer()
  const socket = connectPlain(Number(new URL(other.root).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  await other.call('/version')
  await other.stop()
  if (!socket.destroyed) await once(socket, 'close')
  expect(socket.destroyed).toBe(true)
})
