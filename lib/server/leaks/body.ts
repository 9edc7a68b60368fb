/** Reads the body of a report of leaks. No error quotes it, because it contains credentials. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { mediaTypeOf } from '../../endpoints/negotiation/mediatype.ts'
import { parseJson } from '../../meta/encoding/json.ts'
import { utf8 } from '../../meta/encoding/utf8.ts'
import { badRequest, requestEntityTooLarge, unsupportedMediaType } from '../../meta/errors/status.ts'
import type { JsonValue } from '../../meta/types.ts'
import { headersOf } from '../lambda/lambdaevents.ts'

const maxBytes = 256 * 1024
/** The length of that many bytes as base64. */
const maxEncoded = Math.ceil(maxBytes / 3) * 4
/** Limits the values of a body: those of a thousand reports with ten members each, and some. */
const maxValues = 20_000

/** Returns the bytes of the body as they were sent. Throws 413, 415, and 400 for parameters in the URL. */
export function readBody(event: APIGatewayProxyEvent): Buffer {
  const headers = headersOf(event)
  if (Object.keys(event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {}).length > 0)
    throw badRequest('credentials belong in the body of the request, not in its URL')
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers
  if (type !== '' && mediaTypeOf(type) !== 'application/json') {
    throw unsupportedMediaType(['application/json'], "with curl, use -H 'Content-Type: application/json'")
  }
  if (!/^(identity)?$/i.test(encoding.trim())) throw badRequest('the body must not have a content-encoding')
  const text = event.body ?? ''
  if (text.length > maxEncoded) throw tooLarge()
  const bytes = Buffer.from(text, event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > maxBytes) throw tooLarge()
  return bytes
}

const tooLarge = () => requestEntityTooLarge(`limit is ${maxBytes}`)

/** Decodes the body. Throws 400 unless it is strict JSON: UTF-8, no member twice, not too deep. */
export function decodeBody(bytes: Buffer): JsonValue {
  let parsed: ReturnType<typeof parseJson>
  try {
    parsed = parseJson(utf8(bytes), maxValues)
  } catch {
    // The message of the decoder quotes a character of the text.
    throw badRequest('the body is not valid JSON')
  }
  if (parsed.duplicates.length > 0) throw badRequest('the body has a member more than once')
  return parsed.value
}
