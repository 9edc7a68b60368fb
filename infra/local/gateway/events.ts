/** Creates the events that API Gateway and EventBridge send. Source: "Lambda proxy integrations in API Gateway", recorded events. */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { rfc3339 } from '../../../lib/engine/meta/encoding/time.ts'
import type { Deployment } from './deployment.ts'
import { addHeader, type HeaderLists } from './headerlists.ts'
import type { Match } from './routes.ts'

export interface RequestEvent {
  resource: string
  path: string
  httpMethod: string
  headers: Record<string, string>
  multiValueHeaders: Record<string, string[]>
  queryStringParameters: Record<string, string> | null
  multiValueQueryStringParameters: Record<string, string[]> | null
  pathParameters: Record<string, string> | null
  stageVariables: null
  requestContext: Record<string, unknown>
  body: string | null
  isBase64Encoded: boolean
}

/** Returns `$context` of a request without its time, the base of `requestContext`. `path` is the path as the client sent it, without the query. */
export function requestContext(
  request: IncomingMessage,
  path: string,
  api: Deployment['api'],
): Record<string, unknown> {
  const host = request.headers.host ?? 'localhost'
  return {
    accountId: api.account,
    apiId: api.id,
    domainName: host,
    domainPrefix: host.split('.')[0],
    // randomUUID has random bytes in stock: randomBytes takes several times the CPU.
    extendedRequestId: Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64', 0, 11),
    httpMethod: request.method,
    identity: {
      accessKey: null,
      accountId: null,
      caller: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      user: null,
      userAgent: request.headers['user-agent'] ?? null,
      userArn: null,
    },
    path,
    protocol: `HTTP/${request.httpVersion}`,
    requestId: randomUUID(),
    stage: api.stage,
  }
}

/**
 * Returns the event of a proxy integration, without `requestContext.authorizer`. `path` lacks the stage, and `search` has no
 * question mark. The request is received now, at its turn: the time that it has waited is not taken from that of the functions.
 */
export function requestEvent(
  request: IncomingMessage,
  { path, search, body }: { path: string; search: string; body: Buffer },
  { route, pathParameters }: Match,
  context: Record<string, unknown>,
  binaryMediaTypes: readonly string[],
): RequestEvent {
  const now = new Date()
  const multiValueHeaders = headersOf(request)
  const query = Object.groupBy(new URLSearchParams(search), ([name]) => name)
  const values = Object.entries(query).map(([name, pairs = []]) => [name, pairs.map(([, value]) => value)] as const)
  const binary = isBinary(request.headers['content-type'], binaryMediaTypes)
  return {
    resource: route.resource,
    path,
    httpMethod: String(request.method),
    headers: lastOfEach(Object.entries(multiValueHeaders)),
    multiValueHeaders,
    queryStringParameters: values.length > 0 ? lastOfEach(values) : null,
    multiValueQueryStringParameters: values.length > 0 ? Object.fromEntries(values) : null,
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    requestContext: {
      ...context,
      requestTime: requestTime(now),
      requestTimeEpoch: now.getTime(),
      resourceId: route.resource,
      resourcePath: route.resource,
    },
    body: body.length === 0 ? null : body.toString(binary ? 'base64' : 'utf8'),
    isBase64Encoded: binary && body.length > 0,
  }
}

/** Returns the event of a REQUEST authorizer: without a body, and with empty objects where a proxy event has null. */
export function authorizerEvent(event: RequestEvent, methodArn: string): Record<string, unknown> {
  const { body: _, isBase64Encoded: __, ...rest } = event
  return {
    type: 'REQUEST',
    methodArn,
    ...rest,
    queryStringParameters: event.queryStringParameters ?? {},
    multiValueQueryStringParameters: event.multiValueQueryStringParameters ?? {},
    pathParameters: event.pathParameters ?? {},
    stageVariables: {},
  }
}

export function scheduledEvent(name: string, { api }: Deployment): Record<string, unknown> {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: api.account,
    time: rfc3339(new Date()),
    region: api.region,
    resources: [`arn:aws:events:${api.region}:${api.account}:rule/${name}`],
    detail: {},
  }
}

/** Reports whether a media type is one of the API's binary types. In a list, such as Accept, only the first type counts. */
export function isBinary(header: string | undefined, binaryMediaTypes: readonly string[]): boolean {
  const type = (header ?? '').split(/[,;]/, 1)[0]?.trim().toLowerCase() ?? ''
  return binaryMediaTypes.some((one) => one === type || one === '*/*' || one === `${type.split('/')[0]}/*`)
}

const hop = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Header names keep the client's spelling. */
function headersOf(request: IncomingMessage): Record<string, string[]> {
  const headers: HeaderLists = new Map()
  const add = (name: string, value: string) => addHeader(headers, name, [value])
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? ''
    if (!hop.has(name.toLowerCase())) add(name, request.rawHeaders[at + 1] ?? '')
  }
  const forwarded = headers.get('x-forwarded-for')?.values.join(', ')
  const source = request.socket.remoteAddress ?? '127.0.0.1'
  for (const name of ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto']) headers.delete(name)
  add('X-Forwarded-For', forwarded ? `${forwarded}, ${source}` : source)
  add('X-Forwarded-Port', String(request.socket.localPort))
  add('X-Forwarded-Proto', 'encrypted' in request.socket ? 'https' : 'http')
  return Object.fromEntries([...headers.values()].map(({ name, values }) => [name, values]))
}

const lastOfEach = (lists: readonly (readonly [string, readonly string[]])[]) =>
  Object.fromEntries(lists.map(([name, values]) => [name, values.at(-1) ?? '']))

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Formats a time in the common log format: 21/Nov/2026:12:03:04 +0000. */
function requestTime(now: Date): string {
  const [year, month, day] = now.toISOString().slice(0, 10).split('-')
  return `${day}/${months[Number(month) - 1]}/${year}:${now.toISOString().slice(11, 19)} +0000`
}
