/** Responds to input that is not a routable HTTP request: the parser refused it, or it is not TLS. */
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'

interface Refusal {
  status: string
  code: number
  reason?: string
  message: string
}

/** Responses by error code of Node's parser; the first match applies. */
const REFUSALS: readonly (readonly [RegExp, Refusal])[] = [
  [
    /^HPE_HEADER_OVERFLOW$/,
    { status: '431 Request Header Fields Too Large', code: 431, message: 'the headers of the request are too large' },
  ],
  [
    /^ERR_HTTP_REQUEST_TIMEOUT$/,
    { status: '408 Request Timeout', code: 408, reason: 'Timeout', message: 'the request did not arrive in time' },
  ],
  [
    /^HPE_(INVALID_HEADER|LF_EXPECTED|CR_EXPECTED)/,
    {
      status: '400 Bad Request',
      code: 400,
      reason: 'BadRequest',
      message:
        'a header of the request has a line break, or another character that HTTP does not allow: look for one in the access key',
    },
  ],
  [/^/, { status: '400 Bad Request', code: 400, reason: 'BadRequest', message: 'the request cannot be read as HTTP' }],
]

/** The error of Node's parser, with the bytes that it was reading. */
interface Unreadable extends NodeJS.ErrnoException {
  rawPacket?: Buffer
}

/** Returns the response that Node is writing to a connection, if any. */
interface Answering extends Socket {
  _httpMessage?: { headersSent: boolean } | null
}

/** Maximum time to wait for a client that keeps writing. */
const LINGER_MS = 1000

/** Responds with a Status to a request that the parser refuses. API Gateway uses its own format there. */
export function answerUnreadable(server: Server): void {
  server.on('clientError', ({ code: why = '', rawPacket }: Unreadable, socket: Answering) => {
    // The rest of the same request causes no second response.
    if (socket.writableEnded) return
    // A partly written response to another request on this connection cannot be undone.
    const [, refusal] = REFUSALS.find(([codes]) => codes.test(why)) ?? []
    if (!refusal || !socket.writable || socket._httpMessage?.headersSent || why === 'ECONNRESET') {
      return void socket.destroy()
    }
    const { status, ...details } = refusal
    const isHead = rawPacket?.toString('latin1', 0, 5) === 'HEAD '
    const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...details })
    const headers = [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `Audit-Id: ${randomUUID()}`,
      'Connection: close',
    ]
    socket.setTimeout(LINGER_MS, () => socket.destroy()).end(`${headers.join('\r\n')}\r\n\r\n${isHead ? '' : body}`)
  })
}

/** The first byte of a TLS handshake record. Source: RFC 8446 section 5.1. */
const HANDSHAKE = 0x16
/** The timeout of a handshake. */
const FIRST_BYTE_MS = 120_000

/** The message of Go's net/http, which kube-apiserver returns. */
const PLAIN = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'

/**
 * Responds to plain HTTP requests with a sentence, where clients would otherwise report an empty reply. Returns a function that
 * drops the connections on which nothing has arrived yet.
 */
export function refusePlainHttp(server: TlsServer): () => void {
  const accept = server.listeners('connection')
  const silent = new Set<Socket>()
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const drop = () => void socket.destroy()
    silent.add(socket)
    socket.setTimeout(FIRST_BYTE_MS, drop).on('error', drop)
    socket.once('close', () => silent.delete(socket))
    socket.once('data', (chunk: Buffer) => {
      silent.delete(socket)
      socket.pause().off('error', drop).setTimeout(0).off('timeout', drop)
      if (chunk[0] !== HANDSHAKE) return void socket.on('error', drop).end(PLAIN)
      socket.unshift(chunk)
      for (const listener of accept) listener.call(server, socket)
    })
  })
  return () => {
    for (const socket of silent) socket.destroy()
  }
}
