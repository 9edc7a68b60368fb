/** Tests what the client learns when the connection to the table fails, and that connections are kept. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { requestHandler } from '../../../../../lib/engine/storage/dynamodb/requesthandler.ts'
import { patience } from '../../../../support/patience.ts'

const stack: (() => void)[] = []
afterEach(() => {
  for (const end of stack.splice(0)) end()
})

/** Starts a server that does with each request what the test says, and counts connections. */
async function serverThat(answer: (socket: Socket, request: string) => void, { timeout } = patience) {
  const state = { connections: 0 }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    state.connections++
    sockets.add(socket.on('error', () => undefined))
    socket.on('data', (data) => answer(socket, data.toString()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const handler = requestHandler({ connectionTimeout: timeout, requestTimeout: timeout })
  stack.push(() => {
    handler.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const sent = { protocol: 'http:', hostname: '127.0.0.1', method: 'POST', path: '/', body: 'ä' }
  const headers = { 'content-length': '2' }
  return { state, send: (more = {}) => handler.handle({ ...sent, headers, port, ...more }) }
}

const head = 'HTTP/1.1 200 OK\r\nx-amzn-requestid: one\r\n'

test('an answer is whole, whatever its pieces, and the connection is used again', async () => {
  const requests: string[][] = []
  const { state, send } = await serverThat((socket, request) => {
    requests.push(request.split('\r\n').filter((line) => !/^(host|connection):/i.test(line)))
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n`)
    setImmediate(() => socket.write('5\r\n":1}\n\r\n0\r\n\r\n'))
  })
  for (let times = 0; times < 3; times++) {
    const { response } = await send()
    const { statusCode, headers, body } = response
    expect([statusCode, headers['x-amzn-requestid'], Buffer.from(body).toString()]).toEqual([200, 'one', '{"a":1}\n'])
  }
  expect(requests).toEqual(Array.from({ length: 3 }, () => ['POST / HTTP/1.1', 'content-length: 2', '', 'ä']))
  expect(state.connections).toBe(1)
})

test('an answer without a body is empty', async () => {
  const { send } = await serverThat((socket) => socket.write(`${head}content-length: 0\r\n\r\n`))
  expect((await send()).response.body.length).toBe(0)
})

test.each([
  ['no answer', () => undefined],
  ['half an answer', (socket: Socket) => socket.write(`${head}content-length: 9\r\n\r\n{`)],
])('%s in time is an error that the SDK sends again', async (_, answer) => {
  const { send } = await serverThat(answer, { timeout: 300 })
  await expect(send()).rejects.toMatchObject({ name: 'TimeoutError' })
})

test.each([
  ['a broken connection', (socket: Socket) => socket.destroy()],
  ['an answer that is cut', (socket: Socket) => socket.end(`${head}content-length: 9\r\n\r\n{`)],
])('%s is an error that the SDK sends again', async (_, answer) => {
  const { send } = await serverThat(answer)
  await expect(send()).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('a connection that is not made is an error', async () => {
  const { send } = await serverThat(() => undefined)
  await expect(send({ port: 1 })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test('a connection whose TLS is not made in time is an error', async () => {
  const { send } = await serverThat(() => undefined, { timeout: 300 })
  await expect(send({ protocol: 'https:' })).rejects.toMatchObject({ name: 'TimeoutError' })
})
