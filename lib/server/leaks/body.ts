/** Reads the body of a report of leaks. No error quotes it, because it contains credentials. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { mediaTypeOf } from '../../endpoints/negotiation/mediatype.ts'
import { parseJson } from '../../meta/encoding/json.ts'
import { utf8 } from '../../meta/encoding/utf8.ts'
import { badRequest, requestEntityTooLarge, unsupportedMediaType } from '../../meta/errors/status.ts'
import type { JsonValue } from '../../meta/types.ts'
import { readPublicBody } from '../lambda/publicbody.ts'

const maxBytes = 256 * 1024
/** Limits the values of a body: those of a thousand reports with ten members each, and some. */
const maxValues = 20_000

/** Returns the bytes of the body as they were sent. Throws 413, 415, and 400 for parameters in the URL. */
export const readBody = (event: APIGatewayProxyEvent): Buffer =>
  readPublicBody(event, { content: 'credentials', maxBytes, check, refuse: badRequest, tooLarge })

function check({ 'content-type': type = '' }: Readonly<Record<string, string>>): void {
  if (type === '' || mediaTypeOf(type) === 'application/json') return
  throw unsupportedMediaType(['application/json'], "with curl, use -H 'Content-Type: application/json'")
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
