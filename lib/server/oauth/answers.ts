/** Writes the answers of the OAuth endpoints. Nobody may keep them: an access key is in one of them. */
import type { TokenForm } from '../../endpoints/negotiation/accept.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { stringify } from '../../meta/encoding/json.ts'
import { rfc3339 } from '../../meta/encoding/time.ts'
import type { JsonObject } from '../../meta/types.ts'
import type { OAuthError } from './oautherror.ts'
import { ACCESS_TOKEN_TYPE } from './parameters.ts'

/** RFC 6749 section 5.1. */
const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' }
const jsonType = 'application/json;charset=UTF-8'

const answer = (status: number, type: string, body: string, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  headers: { 'content-type': type, ...uncached, ...headers },
  warnings: [],
  body,
})

const jsonAnswer = (value: JsonObject): ApiResponse => answer(200, jsonType, `${stringify(value)}\n`)

/** An access key that an exchange made. */
export interface Granted {
  key: string
  expires: Date
  /** The lifetime in seconds. */
  seconds: number
  /** The scope that the client asked for. */
  scope?: string
}

/** Returns the answer with the access key, in the form that the client asked for. */
export function grantAnswer({ key, expires, seconds, scope }: Granted, form: TokenForm): ApiResponse {
  if (form === 'text') return answer(200, 'text/plain;charset=UTF-8', `${key}\n`)
  if (form === 'execCredential') {
    return jsonAnswer({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { expirationTimestamp: rfc3339(expires), token: key },
    })
  }
  return jsonAnswer({
    access_token: key,
    issued_token_type: ACCESS_TOKEN_TYPE,
    token_type: 'Bearer',
    expires_in: seconds,
    ...(scope !== undefined && { scope }),
  })
}

/** Returns the answer of a dry run that found nothing to refuse. It has no access key. */
export const acceptedAnswer = ({ seconds, scope }: Pick<Granted, 'seconds' | 'scope'>): ApiResponse =>
  jsonAnswer({ accepted: true, expires_in: seconds, ...(scope !== undefined && { scope }) })

/** RFC 7009 section 2.2. */
export const revokedAnswer = (): ApiResponse => answer(200, jsonType, '')

/** Returns the answer of an error: JSON with every Accept. kubectl and curl show the header, not the body. */
export function errorAnswer({ code, message, retryAfter }: OAuthError): ApiResponse {
  const status = code === 'temporarily_unavailable' ? 503 : 400
  const wait = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
  const body = `${stringify({ error: code, error_description: message })}\n`
  return { ...answer(status, jsonType, body, wait), warnings: [message] }
}

/** Returns the answer to every method but POST. */
export function wrongMethodAnswer(): ApiResponse {
  const description = 'this endpoint accepts POST only'
  const body = `${stringify({ error: 'invalid_request', error_description: description })}\n`
  return { ...answer(405, jsonType, body, { allow: 'POST' }), warnings: [description] }
}
