/** Writes the responses of functions to the client, as API Gateway does. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Deployment } from './deployment.ts'
import { isBinary } from './events.ts'
import { addHeader, type HeaderLists } from './headerlists.ts'
import type { Rendered } from './responses.ts'
import type { Metadata } from './streaming.ts'

/** Thrown when a function does not return a valid proxy response. */
class MalformedAnswer extends Error {
  override name = 'MalformedAnswer'
}

interface Answer {
  statusCode?: number | string
  headers?: Record<string, string | number | boolean> | null
  multiValueHeaders?: Record<string, (string | number | boolean)[]> | null
  body?: string | null
  isBase64Encoded?: boolean
}

/** Writes a buffered response. Throws MalformedAnswer before it writes anything. */
export async function writeAnswer(
  response: ServerResponse,
  answer: unknown,
  request: IncomingHttpHeaders,
  { binaryMediaTypes, minimumCompressionSize = Number.POSITIVE_INFINITY, ...api }: Deployment['api'],
): Promise<void> {
  const { statusCode = 200, headers, multiValueHeaders, body, isBase64Encoded } = parseAnswer(answer)
  // API Gateway decodes base64 only for clients whose Accept starts with a binary type; others get the base64 text.
  const binary = isBase64Encoded === true && isBinary(request.accept, binaryMediaTypes)
  const bytes = Buffer.from(body ?? '', binary ? 'base64' : 'utf8')
  setHeaders(response, { headers: headers ?? {}, multiValueHeaders: multiValueHeaders ?? {} }, api)
  response.statusCode = Number(statusCode)
  const compress = bytes.length >= minimumCompressionSize && /\bgzip\b/.test(String(request['accept-encoding'] ?? ''))
  if (compress) response.setHeader('Content-Encoding', 'gzip')
  const sent = compress ? await gzipped(bytes) : bytes
  response.setHeader('Content-Length', sent.length)
  response.end(sent)
}

const gzipped = promisify(gzip)

/** Starts a streamed response. Throws MalformedAnswer before it writes anything. */
export function beginAnswer(response: ServerResponse, metadata: Metadata, api: Host): void {
  const statusCode = metadata.statusCode ?? 200
  if (!isStatus(statusCode)) throw new MalformedAnswer('statusCode must be a number from 200 to 599')
  setHeaders(response, { headers: metadata.headers ?? {}, multiValueHeaders: metadata.multiValueHeaders ?? {} }, api)
  if (metadata.cookies) response.setHeader('Set-Cookie', metadata.cookies)
  response.statusCode = statusCode
  response.flushHeaders()
}

/** Writes a response of the gateway itself. Drops headers that a function set before it failed. */
export function writeRendered(response: ServerResponse, { statusCode, headers, body }: Rendered, api: Host): void {
  for (const name of response.getHeaderNames()) if (name !== 'x-amzn-requestid') response.removeHeader(name)
  const sent = Object.entries(headers).filter(([name]) => isSent(name.toLowerCase(), api))
  response.writeHead(statusCode, { ...Object.fromEntries(sent), 'Content-Length': Buffer.byteLength(body) }).end(body)
}

type Host = Pick<Deployment['api'], 'sharesHost'>

/** Strict-Transport-Security would bind all ports of a host, also those of other programs, which may not serve HTTPS. */
const isSent = (name: string, { sharesHost }: Host): boolean => !(sharesHost && name === 'strict-transport-security')

const members = new Set(['statusCode', 'headers', 'multiValueHeaders', 'body', 'isBase64Encoded'])

function parseAnswer(value: unknown): Answer {
  if (typeof value !== 'object' || value === null) throw new MalformedAnswer('the answer is not an object')
  const stranger = Object.keys(value).find((name) => !members.has(name))
  if (stranger !== undefined) throw new MalformedAnswer(`an answer has no ${stranger}`)
  const answer = value as Answer
  if (!isStatus(Number(answer.statusCode ?? 200))) throw new MalformedAnswer('statusCode must be from 200 to 599')
  if (typeof (answer.body ?? '') !== 'string') throw new MalformedAnswer('body must be a string')
  if (!Object.values(answer.headers ?? {}).every(isScalar)) throw new MalformedAnswer('headers must be strings')
  const lists = Object.values(answer.multiValueHeaders ?? {})
  if (!lists.every((list) => Array.isArray(list) && list.every(isScalar))) {
    throw new MalformedAnswer('multiValueHeaders must be lists of strings')
  }
  return answer
}

const isStatus = (status: number) => Number.isInteger(status) && status >= 200 && status <= 599
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

/** "Header remapping": Amazon API Gateway important notes for REST APIs. */
const remapped = new Set(['authorization', 'connection', 'content-length', 'date', 'server', 'www-authenticate'])

function setHeaders(
  response: ServerResponse,
  { headers, multiValueHeaders }: { headers: object; multiValueHeaders: Record<string, readonly unknown[]> },
  api: Host,
) {
  const lists: HeaderLists = new Map()
  for (const [name, values] of Object.entries(multiValueHeaders)) addHeader(lists, name, values.map(String))
  for (const [name, value] of Object.entries(headers)) addHeader(lists, name, [String(value)])
  lists.delete('transfer-encoding')
  try {
    if (!lists.has('content-type')) response.setHeader('Content-Type', 'application/json')
    for (const [key, { name, values }] of lists) {
      if (!isSent(key, api)) continue
      response.setHeader(remapped.has(key) ? `x-amzn-Remapped-${name}` : name, values)
    }
  } catch (error) {
    throw new MalformedAnswer('a header cannot be sent', { cause: error })
  }
}
