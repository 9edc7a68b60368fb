/** Converts API Gateway events to requests, and responses to the results of a Lambda proxy integration. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { negotiateStatus, type Output } from '../../engine/endpoints/negotiation/accept.ts'
import type { ApiRequest, ApiResponse } from '../../engine/endpoints/request.ts'
import { warningHeaders } from '../../engine/endpoints/warnings.ts'

/** Returns the headers with lowercase names. Repeated headers are joined to one list, as HTTP defines. */
export function headersOf(event: APIGatewayProxyEvent): Record<string, string> {
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

/** Negotiates the output format of errors that no endpoint answered. Parses the event again, but only for errors. */
export const statusForm = (event: APIGatewayProxyEvent): Output | undefined =>
  negotiateStatus({ headers: headersOf(event), query: queryOf(event) })

/** Returns the request. It omits the Authorization header, which no endpoint needs. */
export function toApiRequest(
  event: APIGatewayProxyEvent,
  made: Pick<ApiRequest, 'path' | 'user' | 'now' | 'deadline'>,
): ApiRequest {
  const { authorization: _, ...headers } = headersOf(event)
  return {
    method: event.httpMethod,
    ...(event.path.endsWith('/') && { endsInSlash: true as const }),
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

export interface LambdaResponse {
  statusCode: number
  headers: Record<string, string>
  multiValueHeaders: Record<string, string[]>
  body: ApiResponse['body']
  cut?: AbortSignal
  immediate?: true
}

/** Browsers that have once reached the host use HTTPS for it alone. For this host only: others of the domain may not have it. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000'

/**
 * Returns the result for Lambda, with the headers of every response: Audit-Id, Cache-Control, Strict-Transport-Security,
 * X-Content-Type-Options and Warning.
 */
export function toLambdaResponse(response: ApiResponse, requestId: string): LambdaResponse {
  const warnings = warningHeaders(response.warnings)
  return {
    statusCode: response.status,
    headers: {
      'cache-control': 'no-cache, private',
      'strict-transport-security': STRICT_TRANSPORT_SECURITY,
      // No browser takes a text of a client in an answer for a page or a script.
      'x-content-type-options': 'nosniff',
      ...response.headers,
      'audit-id': requestId,
    },
    multiValueHeaders: warnings.length > 0 ? { warning: warnings } : {},
    body: response.body,
    ...(response.cut && { cut: response.cut }),
    ...(response.immediate && { immediate: true as const }),
  }
}
