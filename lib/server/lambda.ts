/** API Gateway events to requests, and responses to what a Lambda proxy integration answers. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { negotiateStatus, type Output } from '../endpoints/negotiation.ts'
import { type ApiRequest, type ApiResponse, first } from '../endpoints/request.ts'

/** Several headers of one name are one list, as HTTP says. */
function headersOf(event: APIGatewayProxyEvent): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = value
  }
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
    if (values !== undefined && values.length > 1) headers[name.toLowerCase()] = values.join(', ')
  }
  return headers
}

function queryOf(event: APIGatewayProxyEvent): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, readonly string[]>()
  for (const [name, value] of Object.entries(event.queryStringParameters ?? {})) {
    if (value !== undefined) query.set(name, [value])
  }
  for (const [name, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    if (values !== undefined) query.set(name, values)
  }
  return query
}

/** The form that a refusal takes before there is a request. */
export const statusForm = (event: APIGatewayProxyEvent): Output | undefined =>
  negotiateStatus(headersOf(event), first(queryOf(event), 'pretty'))

/** The bearer header is left out: nobody below has a use for it. */
export function toApiRequest(
  event: APIGatewayProxyEvent,
  made: Pick<ApiRequest, 'user' | 'now' | 'deadline'>,
): ApiRequest {
  const { authorization: _, ...headers } = headersOf(event)
  return {
    method: event.httpMethod,
    path: event.path,
    namespace: event.pathParameters?.namespace ?? '',
    name: event.pathParameters?.name ?? '',
    subresource: event.resource.endsWith('/status') ? 'status' : '',
    query: queryOf(event),
    headers,
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    requestId: event.requestContext.requestId,
    ...made,
  }
}

/**
 * RFC 9111 Warning text: printable, quoted; the code 299 and agent `-` as kube-apiserver writes them. ASCII, since gateways
 * and HTTP libraries refuse headers of anything else: other characters read as in JSON (`\u00e9`).
 */
function warningHeader(text: string): string {
  const printable = text.replace(/\p{C}/gu, ' ')
  const ascii = printable.replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `299 - "${ascii.replace(/["\\]/g, '\\$&')}"`
}

/** API Gateway passes on 10,240 bytes of headers, and turns an answer with more of them into a failure. */
const maxWarningBytes = 8192
/** `Warning: ` and the end of the line. */
const lineBytes = 11

/**
 * All texts together stay below 4096 characters: else each is cut to 256, as kube-apiserver does. The first ones, as many as
 * the gateway bears.
 */
function warningHeaders(warnings: readonly string[]): string[] {
  const unique = [...new Set(warnings)]
  const length = unique.reduce((sum, text) => sum + text.length, 0)
  const headers: string[] = []
  let bytes = 0
  for (const text of unique) {
    const header = warningHeader(length > 4096 ? text.slice(0, 256) : text)
    bytes += header.length + lineBytes
    if (bytes > maxWarningBytes) break
    headers.push(header)
  }
  return headers
}

export interface LambdaResponse {
  statusCode: number
  headers: Record<string, string>
  multiValueHeaders: Record<string, string[]>
  body: ApiResponse['body']
  cut?: AbortSignal
  immediate?: true
}

/** Adds what every answer carries: the Audit-Id, and no-store for what may hold a secret. */
export function toLambdaResponse(response: ApiResponse, requestId: string): LambdaResponse {
  const warnings = warningHeaders(response.warnings)
  return {
    statusCode: response.status,
    headers: { 'cache-control': 'no-cache, private', ...response.headers, 'audit-id': requestId },
    multiValueHeaders: warnings.length > 0 ? { warning: warnings } : {},
    body: response.body,
    ...(response.cut && { cut: response.cut }),
    ...(response.immediate && { immediate: true as const }),
  }
}
