/**
 * The AWS JSON 1.1 protocol over HTTP: one POST per call, `X-Amz-Target: PREFIX.Operation`, JSON both ways,
 * errors as `{"__type": NAME, message}`. Source: smithy.io, "AWS JSON 1.1 protocol".
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isObject } from '../../lib/meta/walk.ts'

/** A member's value is whatever the client sent: read it through awsinput.ts. */
export type AwsInput = Readonly<Record<string, unknown>>

export type AwsOperation = (input: AwsInput) => Promise<object> | object

export interface AwsService {
  /** What stands before the dot of X-Amz-Target. */
  target: string
  /** The service part of the credential scope, `kms`. */
  signingName: string
  operations: ReadonlyMap<string, AwsOperation>
}

export interface AwsEndpoint {
  /** `http://127.0.0.1:PORT`, for AWS_ENDPOINT_URL_…. */
  url: string
  /** Ends open connections too. */
  close(): Promise<void>
}

/** A refusal in AWS's own words; `name` is what SDK clients see as `error.name`. */
export class AwsError extends Error {
  readonly statusCode: number

  constructor(name: string, message: string, statusCode = 400) {
    super(message)
    this.name = name
    this.statusCode = statusCode
  }
}

/** Far above the largest call (a secret of 64 KiB in base64). */
const MAX_BODY_BYTES = 1024 * 1024

/** Listens on 127.0.0.1 only, on a free port. */
export async function serveAwsJson(service: AwsService): Promise<AwsEndpoint> {
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(service, request)
    const text = JSON.stringify(body)
    response.writeHead(status, {
      'content-type': 'application/x-amz-json-1.1',
      'content-length': Buffer.byteLength(text),
      'x-amzn-requestid': randomUUID(),
      ...(!request.complete && { connection: 'close' }),
    })
    response.end(text)
  })
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

async function answer(service: AwsService, request: IncomingMessage): Promise<{ status: number; body: object }> {
  try {
    requireSignature(service, request)
    const [prefix, name] = splitTarget(request)
    const operation = prefix === service.target ? service.operations.get(name) : undefined
    if (request.method !== 'POST' || !operation) throw new AwsError('UnknownOperationException', 'Unknown operation')
    return { status: 200, body: await operation(await readInput(request)) }
  } catch (error) {
    // A failure of our own says nothing of its cause: it might hold a secret.
    const known = error instanceof AwsError ? error : new AwsError('InternalFailure', 'Internal failure', 500)
    return { status: known.statusCode, body: { __type: known.name, message: known.message } }
  }
}

function splitTarget({ headers }: IncomingMessage): [prefix: string, operation: string] {
  const target = String(headers['x-amz-target'] ?? '')
  const dot = target.indexOf('.')
  return [target.slice(0, Math.max(dot, 0)), target.slice(dot + 1)]
}

const CREDENTIAL = /^AWS4-HMAC-SHA256 Credential=[^\s/,]+\/\d{8}\/[\w-]+\/([\w-]+)\/aws4_request,/

/**
 * Refuses unsigned calls. The signature itself is not checked: this endpoint is reachable from this machine only, and a
 * web page cannot send the header across origins without a preflight, which is refused here like any other non-POST.
 */
function requireSignature({ signingName }: AwsService, { headers }: IncomingMessage): void {
  const { authorization } = headers
  if (authorization === undefined)
    throw new AwsError('MissingAuthenticationTokenException', 'Missing Authentication Token')
  const scope = CREDENTIAL.exec(authorization)
  if (!scope || !/SignedHeaders=[\w;-]+/.test(authorization) || !/Signature=[0-9a-f]{64}$/.test(authorization))
    throw new AwsError(
      'IncompleteSignatureException',
      'Authorization header requires Credential, SignedHeaders and Signature of AWS4-HMAC-SHA256.',
    )
  if (scope[1] !== signingName)
    throw new AwsError('InvalidSignatureException', `Credential should be scoped to correct service: '${signingName}'.`)
}

async function readInput(request: IncomingMessage): Promise<AwsInput> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES)
      throw new AwsError('RequestEntityTooLargeException', 'The request body is too large', 413)
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}')
    if (isObject(value)) return value
  } catch {}
  throw new AwsError('SerializationException', 'Unexpected content: a JSON object is required')
}
