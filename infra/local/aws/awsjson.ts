/**
 * Serves the AWS JSON protocol over HTTP: one POST per call with `X-Amz-Target: PREFIX.Operation`, JSON in both directions,
 * errors as `{"__type": NAME, message}`. Source: smithy.io, "AWS JSON 1.0 and 1.1 protocols".
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject } from '../../../lib/meta/value/walk.ts'
import { hasNoRoom } from '../host/fileproblem.ts'

/** Unvalidated input: read its members through awsinput.ts. */
export type AwsInput = Readonly<Record<string, unknown>>

export type AwsOperation = (input: AwsInput) => Promise<object> | object

/** The answer of an operation as JSON text, which is sent unchanged. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export interface AwsService {
  /** The part of X-Amz-Target before the dot. */
  target: string
  /** The service name in the credential scope, such as `kms`. */
  signingName: string
  operations: ReadonlyMap<string, AwsOperation>
  /** Must exceed the largest valid call. */
  maxBodyBytes: number
}

export interface AwsEndpoint {
  /** `http://127.0.0.1:PORT`, for AWS_ENDPOINT_URL_…. */
  url: string
  /** Closes open connections too. */
  close(): Promise<void>
}

/** An error response with AWS's message; SDK clients see `name` as `error.name`. */
export class AwsError extends Error {
  readonly statusCode: number
  /** Members of the response besides name and message. */
  readonly members: object

  constructor(name: string, message: string, statusCode = 400, members: object = {}) {
    super(message)
    this.name = name
    this.statusCode = statusCode
    this.members = members
  }
}

/** Throws an AwsError unless the request, with this body, is signed for the service. */
export type VerifySignature = (service: string, request: IncomingMessage, body: Uint8Array) => Promise<void>

/** Listens on a free port of 127.0.0.1 only. Refuses calls whose signature `verify` refuses. */
export async function serveAwsJson(service: AwsService, verify: VerifySignature): Promise<AwsEndpoint> {
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(service, verify, request)
    const text = body instanceof JsonText ? body.text : JSON.stringify(body)
    response.writeHead(status, {
      'content-type': 'application/x-amz-json-1.1',
      'content-length': Buffer.byteLength(text),
      'x-amzn-requestid': randomUUID(),
      ...(!request.complete && { connection: 'close' }),
    })
    response.end(text)
  })
  // Clients keep connections. If the server closed idle ones, a request that begins at that moment would fail.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  { target, signingName, operations, maxBodyBytes }: AwsService,
  verify: VerifySignature,
  request: IncomingMessage,
): Promise<{ status: number; body: object }> {
  try {
    const body = await readBody(request, maxBodyBytes)
    await verify(signingName, request, body)
    const [prefix, name] = splitTarget(request)
    const operation = prefix === target ? operations.get(name) : undefined
    if (request.method !== 'POST' || !operation) throw new AwsError('UnknownOperationException', 'Unknown operation')
    return { status: 200, body: await operation(inputOf(body)) }
  } catch (error) {
    const known = error instanceof AwsError ? error : failureOf(error)
    return { status: known.statusCode, body: { ...known.members, __type: known.name, message: known.message } }
  }
}

/** Returns the error of an operation that failed, without its cause, which may contain a secret. Clients do not repeat a full disk. */
const failureOf = (error: unknown): AwsError =>
  hasNoRoom(error)
    ? new AwsError('LimitExceededException', 'The disk of this server is full: nothing was written.')
    : new AwsError('InternalFailure', 'Internal failure', 500)

function splitTarget({ headers }: IncomingMessage): [prefix: string, operation: string] {
  const target = String(headers['x-amz-target'] ?? '')
  const dot = target.indexOf('.')
  return [target.slice(0, Math.max(dot, 0)), target.slice(dot + 1)]
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new AwsError('RequestEntityTooLargeException', 'The request body is too large', 413)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function inputOf(body: Buffer): AwsInput {
  try {
    const value: unknown = JSON.parse(body.toString('utf8') || '{}')
    if (isObject(value)) return value
  } catch {}
  throw new AwsError('SerializationException', 'Unexpected content: a JSON object is required')
}
