/** Renders the responses that API Gateway generates itself. */
import type { GatewayResponse } from '../../stack/responses.ts'

/** The supported types, with API Gateway's default status and message. Source: "Gateway response types for API Gateway". */
const types = {
  ACCESS_DENIED: [403, 'User is not authorized to access this resource'],
  AUTHORIZER_CONFIGURATION_ERROR: [500, null],
  AUTHORIZER_FAILURE: [500, null],
  INTEGRATION_FAILURE: [504, 'Internal server error'],
  INTEGRATION_TIMEOUT: [504, 'Endpoint request timed out'],
  MISSING_AUTHENTICATION_TOKEN: [403, 'Missing Authentication Token'],
  THROTTLED: [429, 'Too Many Requests'],
  REQUEST_TOO_LARGE: [413, 'Request Too Long'],
  UNAUTHORIZED: [401, 'Unauthorized'],
  // A function failed or returned an invalid proxy response.
  DEFAULT_5XX: [502, 'Internal server error'],
} as const satisfies Record<string, readonly [number, string | null]>

export type ResponseType = keyof typeof types

/** What customizes responses, by their types. */
export type GatewayResponses = Readonly<Record<string, Partial<GatewayResponse>>>

/**
 * The response for a stage or a base path that does not exist. No API is found, so nothing customizes it. Source:
 * https://repost.aws/knowledge-center/api-gateway-troubleshoot-403-forbidden
 */
export const FORBIDDEN: Rendered = {
  statusCode: 403,
  headers: { 'Content-Type': 'application/json', 'x-amzn-ErrorType': 'ForbiddenException' },
  body: '{"message":"Forbidden"}',
}

/** `$context`: nested objects of strings, numbers and null. */
export type TemplateContext = Readonly<Record<string, unknown>>

export interface Rendered {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/** Adds `error` to `context`. Missing variables render as empty text. Nothing is escaped. */
export function renderResponse(type: ResponseType, responses: GatewayResponses, context: TemplateContext): Rendered {
  const [status, message] = types[type]
  const response = responses[type] ?? responses[status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX']
  const error = { message, messageString: JSON.stringify(message), responseType: type }
  const scope: TemplateContext = { ...context, error }
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  for (const [name, value] of Object.entries(response?.responseParameters ?? {})) {
    headers[name.replace('gatewayresponse.header.', '')] = parameter(value, scope)
  }
  const template = response?.responseTemplates?.['application/json'] ?? '{"message":$context.error.messageString}'
  return {
    statusCode: Number(response?.statusCode ?? status),
    headers,
    body: template.replace(/\$context((?:\.\w+)+)/g, (_, path: string) => lookup(scope, path.slice(1))),
  }
}

/** Evaluates `'text'` or `context.PATH`. */
function parameter(value: string, scope: TemplateContext): string {
  if (value.length >= 2 && value.startsWith("'") && value.endsWith("'")) return value.slice(1, -1)
  if (value.startsWith('context.')) return lookup(scope, value.slice('context.'.length))
  throw new TypeError(`unsupported parameter of a gateway response: ${value}`)
}

function lookup(scope: TemplateContext, path: string): string {
  let value: unknown = scope
  for (const step of path.split('.')) {
    const here = value
    value = typeof here === 'object' && here !== null && Object.hasOwn(here, step) ? Reflect.get(here, step) : undefined
  }
  return value === undefined || value === null ? '' : String(value)
}
