/** Writes the answers of the OAuth endpoints. No cache may keep them, because one of them contains an access key. */
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import { stringify } from '../../engine/meta/encoding/json.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import type { OAuthError } from './oautherror.ts'

/** RFC 6749 section 5.1. */
const uncached = { 'cache-control': 'no-store', pragma: 'no-cache' }
const jsonType = 'application/json;charset=UTF-8'

const answer = (status: number, type: string, body: string, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  headers: { 'content-type': type, ...uncached, ...headers },
  warnings: [],
  body,
})

/** Returns a successful answer with a JSON object. */
export const jsonAnswer = (value: JsonObject): ApiResponse => answer(200, jsonType, `${stringify(value)}\n`)

/** Returns a successful answer with a text. */
export const textAnswer = (text: string): ApiResponse => answer(200, 'text/plain;charset=UTF-8', text)

/** Returns a successful answer with a YAML document. */
export const yamlAnswer = (text: string): ApiResponse => answer(200, 'application/yaml', text)

/**
 * Returns the answer to a revocation: nothing, as RFC 7009 (section 2.2) has it, or `{"revoked":true}` for a client that asks whether the
 * token has ended with it. `unconfirmed` names the clusters that may accept it until it expires.
 */
export const revokedAnswer = (ended?: { unconfirmed: readonly string[] | undefined }): ApiResponse =>
  answer(200, jsonType, ended ? `${stringify({ revoked: true, ...defined(ended) })}\n` : '')

/** Returns the answer of an error: JSON with every Accept. kubectl and curl show the header, not the body. */
export function errorAnswer({ code, message, reason, retryAfter }: OAuthError): ApiResponse {
  const isMethod = reason === 'method'
  const isOften = reason === 'too_many_signatures'
  const status = isOften ? 429 : code === 'temporarily_unavailable' ? 503 : isMethod ? 405 : 400
  const body = `${stringify({ error: code, error_description: message })}\n`
  const more = {
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(isMethod && { allow: 'POST' }),
  }
  return { ...answer(status, jsonType, body, more), warnings: [message] }
}
