/**
 * The `awslambda` global of Lambda's Node.js runtime and the stream that it gives to streaming handlers. What passes
 * through that stream is what Lambda sends to API Gateway: JSON of the metadata, eight zero bytes, the body.
 */
import { Writable } from 'node:stream'

/** What a streaming function says about its response, before the first byte of the body. */
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

/** Marks a handler that takes `(event, responseStream, context)`. */
export const streamingHandler = Symbol.for('aws.lambda.runtime.handler.streaming')

/** The stream ended, or the limit was reached, before a whole prelude was written. `end(body)` alone writes none. */
export class MalformedStream extends Error {
  override name = 'MalformedStream'
}

/** Puts `awslambda` where bundles expect it; must run before they are imported. */
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
 * A response stream. `open` is called once, with the metadata, and returns where the body goes; a body that takes no more
 * holds the writer up. Destroying the stream (the client has left) fails what is written later; nobody needs to listen.
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
  if (typeof value !== 'object' || value === null) throw new MalformedStream('the metadata is no object')
  return value
}
