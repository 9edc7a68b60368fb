/**
 * Provides the `awslambda` global of Lambda's Node.js runtime and the stream of streaming handlers. The stream carries what
 * Lambda sends to API Gateway: the metadata as JSON, eight zero bytes, the body.
 */
import { Writable } from 'node:stream'

/** Metadata of a streamed response, sent before the body. */
export interface Metadata {
  statusCode?: number
  headers?: Record<string, string>
  multiValueHeaders?: Record<string, string[]>
  cookies?: string[]
}

type Write = (chunk: string | Uint8Array) => unknown

interface RuntimeStream extends Writable {
  setContentType(type: string): void
  _onBeforeFirstWrite?: (write: Write) => void
}

/** Marks a handler with the parameters `(event, responseStream, context)`. */
export const streamingHandler = Symbol.for('aws.lambda.runtime.handler.streaming')

/** Thrown when the stream ends or reaches the limit before a complete prelude. `end(body)` alone writes no prelude. */
class MalformedStream extends Error {
  override name = 'MalformedStream'
}

/** Defines the global `awslambda`; must run before bundles are imported. */
export function installRuntimeGlobal(): void {
  const streamifyResponse = (handler: object) => Object.assign(handler, { [streamingHandler]: 'response' })
  const HttpResponseStream = {
    from(stream: RuntimeStream, metadata: Metadata) {
      stream.setContentType('application/vnd.awslambda.http-integration-response')
      stream._onBeforeFirstWrite = (write) => {
        write(JSON.stringify(metadata))
        write(delimiter)
      }
      return stream
    },
  }
  Object.assign(globalThis, { awslambda: { streamifyResponse, HttpResponseStream } })
}

const delimiter = new Uint8Array(8)
const maximumPrelude = 64 * 1024

/**
 * Creates a response stream. Calls `open` once with the metadata; `open` returns the destination of the body, whose
 * backpressure reaches the writer. Writes fail after the stream is destroyed because the client disconnected; that needs no
 * listener.
 */
export function createResponseStream(open: (metadata: Metadata) => Writable): Writable {
  let prelude = Buffer.alloc(0)
  let body: Writable | undefined
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (body) return void body.write(chunk, done)
      prelude = Buffer.concat([prelude, chunk])
      const end = prelude.indexOf(delimiter)
      if (end < 0) return done(prelude.length > maximumPrelude ? new MalformedStream('the prelude does not end') : null)
      try {
        body = open(parseMetadata(prelude.subarray(0, end)))
      } catch (error) {
        return done(error as Error)
      }
      const rest = prelude.subarray(end + delimiter.length)
      if (rest.length === 0) return done()
      body.write(rest, done)
    },
    final(done) {
      if (body) body.end(done)
      else done(new MalformedStream('the stream ended without metadata'))
    },
  }) as RuntimeStream
  stream.on('error', () => {})
  stream.setContentType = () => {}

  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean
  let first = true
  const hooked = (chunk: unknown, ...rest: unknown[]) => {
    if (first) {
      first = false
      stream._onBeforeFirstWrite?.((early) => write(early))
    }
    return write(typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk : JSON.stringify(chunk), ...rest)
  }
  return Object.assign(stream, { write: hooked })
}

function parseMetadata(bytes: Buffer): Metadata {
  const value: unknown = JSON.parse(bytes.toString())
  if (typeof value !== 'object' || value === null) throw new MalformedStream('the metadata is not an object')
  return value
}
