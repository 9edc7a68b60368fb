/** Writes the answers of an exchange, in the form that the client asked for. */
import { execCredential } from '../../endpoints/execcredential.ts'
import type { TokenForm } from '../../endpoints/negotiation/accept.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { rfc3339 } from '../../meta/encoding/time.ts'
import { jsonAnswer, textAnswer } from '../oauth/answers.ts'
import { ACCESS_TOKEN_TYPE } from './parameters.ts'

/** An access key that an exchange made. */
interface Granted {
  key: string
  expires: Date
  /** The lifetime in seconds. */
  seconds: number
  /** The scope that the client asked for. */
  scope?: string
}

/** Returns the answer with the access key, in the form that the client asked for. */
export function grantAnswer({ key, expires, seconds, scope }: Granted, form: TokenForm): ApiResponse {
  if (form === 'text') return textAnswer(`${key}\n`)
  if (form === 'execCredential') {
    return jsonAnswer(execCredential({ expirationTimestamp: rfc3339(expires), token: key }))
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
