/** Converts bodies for Lambda to text or to streams of bytes, and compresses large streams for clients that accept gzip. */
import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { LambdaResponse } from './lambdaevents.ts'

/** Smaller responses are not worth compressing (k8s.io/apiserver responsewriters: 128 KiB). */
const minCompressedBytes = 128 * 1024

/** Reports whether the client accepts gzip. */
export function acceptsGzip({ headers }: Pick<APIGatewayProxyEvent, 'headers'>): boolean {
  const name = Object.keys(headers ?? {}).find((one) => one.toLowerCase() === 'accept-encoding')
  const tokens = (name ? (headers[name] ?? '') : '').split(',').map((token) => token.trim().toLowerCase())
  return tokens.some((token) => /^gzip\s*(;|$)/.test(token) && !/;\s*q=0(\.0*)?$/.test(token))
}

/**
 * Returns the response with its body for Lambda. A buffered function returns text, which API Gateway compresses
 * (minimumCompressionSize). A streaming function returns bytes, compressed if `compresses`: no page of AWS says that API
 * Gateway passes them on unchanged. No chunk of a text may end within a character.
 */
export function compressBody(
  response: LambdaResponse,
  event: APIGatewayProxyEvent,
  { streams, compresses }: { streams: boolean; compresses: boolean },
): LambdaResponse {
  const { body, cut, immediate, ...rest } = response
  if (!streams) return { ...rest, body }
  const whole = typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body as string) : undefined
  const large = whole ? whole.length > minCompressedBytes : !immediate
  const source = Readable.from(whole ? [whole] : (body as AsyncIterable<string>), { objectMode: false })
  if (cut) addAbortSignal(cut, source)
  if (!compresses || !large || !acceptsGzip(event)) return { ...rest, body: source as never }
  // Each stream ends with the other: the reader receives errors, and the end of the response ends the source. A client
  // that leaves ends the response here, but not in Lambda.
  const gzip = pipeline(source, createGzip(), () => {})
  const { vary } = rest.headers
  const encoding = { 'content-encoding': 'gzip', vary: vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding' }
  return { ...rest, headers: { ...rest.headers, ...encoding }, body: gzip as never }
}
