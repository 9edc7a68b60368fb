/**
 * Reads what a report of leaks says, in our own form and in that of trufflehog. No error quotes the body, because it contains
 * credentials.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { mediaTypeOf } from '../../engine/endpoints/negotiation/mediatype.ts'
import { parseJson } from '../../engine/meta/encoding/json.ts'
import { utf8 } from '../../engine/meta/encoding/utf8.ts'
import { badRequest, requestEntityTooLarge, unsupportedMediaType } from '../../engine/meta/errors/status.ts'
import type { JsonObject, JsonValue } from '../../engine/meta/types.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import { readPublicBody } from '../lambda/publicbody.ts'

const maxBytes = 256 * 1024
/** Limits the values of a body. */
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

/** A text that was found, which may be a credential of this service. */
export interface Finding {
  text: string
  /** Where the text was found, as the reporter says. */
  url?: string
}

const isTexts = (value: JsonValue | undefined): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

/**
 * Reads `{"credentials": [TEXT, …], "url": URL}`, or `{NAME: {NAME: [TEXT, …]}}` as trufflehog's custom detectors send it.
 * Throws 400 for everything else.
 */
export function readReport(body: JsonValue): Finding[] {
  if (!isObject(body)) throw wrongReport()
  if (!Object.hasOwn(body, 'credentials')) return readDetection(body)
  const { credentials, url, ...others } = body
  const isWhole = isTexts(credentials) && (url === undefined || typeof url === 'string')
  if (!isWhole || Object.keys(others).length > 0) throw wrongReport()
  return credentials.map((text) => ({ text, ...(typeof url === 'string' && { url }) }))
}

const wrongReport = () => badRequest('the body must be {"credentials": ["…"], "url": "…"}, with url optional')

/** Reads a detection of trufflehog: the name of the detector, the names of its patterns, and the match with its groups. */
function readDetection(body: JsonObject): Finding[] {
  const [patterns, ...others] = Object.values(body)
  if (others.length > 0 || !isObject(patterns)) throw wrongReport()
  const matches = Object.values(patterns)
  if (matches.length === 0 || !matches.every(isTexts)) throw wrongReport()
  return matches.flat().map((text) => ({ text }))
}
