/** Reads the bodies of requests to public endpoints. No error quotes them, because they contain credentials. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { headersOf } from './lambdaevents.ts'

interface Rules {
  /** What belongs in the body. */
  content: string
  maxBytes: number
  /** Throws unless the headers are those of such a body. */
  check(headers: Readonly<Record<string, string>>): void
  /** Returns the error of a request that is not as it must be. */
  refuse(why: string): Error
  tooLarge(): Error
}

/** Returns the bytes of the body as they were sent. Throws for parameters in the URL, encoded and larger bodies. */
export function readPublicBody(
  event: APIGatewayProxyEvent,
  { content, maxBytes, check, refuse, tooLarge }: Rules,
): Buffer {
  if (Object.keys(event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {}).length > 0)
    throw refuse(`${content} belong in the body of the request, not in its URL`)
  const headers = headersOf(event)
  check(headers)
  if (!/^(identity)?$/i.test(headers['content-encoding']?.trim() ?? ''))
    throw refuse('the body must not have a content-encoding')
  const text = event.body ?? ''
  // The length of that many bytes as base64.
  if (text.length > Math.ceil(maxBytes / 3) * 4) throw tooLarge()
  const bytes = Buffer.from(text, event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > maxBytes) throw tooLarge()
  return bytes
}
