/**
 * Decodes JSON and YAML request bodies and builds the errors for bodies that are neither.
 * Source: k8s.io/apimachinery/pkg/runtime/serializer/json, k8s.io/apiserver/pkg/endpoints/handlers/rest.go.
 */

import { type Floats, NO_FLOATS } from '../encoding/floats.ts'
import { GO_MAP, goJsonType, quote } from '../encoding/gotext.ts'
import { parseJson } from '../encoding/json.ts'
import { DecodeError } from '../encoding/jsonscanner.ts'
import { utf8 } from '../encoding/utf8.ts'
import { parseYaml } from '../encoding/yaml.ts'
import { badRequest, type StatusError } from '../errors/status.ts'
import type { JsonObject, JsonValue } from '../types.ts'
import { isObject } from '../value/walk.ts'

export type MediaType = 'json' | 'yaml'

/** A decoded value and a message for each duplicate key. */
interface DecodedBody {
  value: JsonValue
  /** Messages for Warnings: `duplicate field "spec.ttl"` of JSON, `line 4: key "ttl" already set in map` of YAML. */
  duplicates: string[]
  /** Messages for a strict error: the same, but those of YAML in a single message. */
  strict: string[]
  /** Numbers that the JSON text writes as floating point; none for YAML, whose whole numbers become integers in JSON. */
  floats: Floats
}

/** Decodes the body of an object; an empty YAML document is null. Throws 400 with the message for an object of this kind. */
export async function decodeBody(
  body: Uint8Array,
  mediaType: MediaType,
  { kind }: { kind: string },
): Promise<DecodedBody> {
  if (body.length === 0) throw unrecognized(kind, 'the request has no body: send the object as JSON or YAML', body)
  return read(body, mediaType, (why) => unrecognized(kind, why, body))
}

/** Decodes a body that contains options. Throws 400 if malformed. */
export function decodeOptions(body: Uint8Array, mediaType: MediaType): Promise<DecodedBody> {
  return read(body, mediaType, badRequest)
}

async function read(
  body: Uint8Array,
  mediaType: MediaType,
  failure: (why: string) => StatusError,
): Promise<DecodedBody> {
  try {
    return mediaType === 'json' ? decodeJson(body) : await decodeYaml(body)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw failure(
      mediaType === 'json' ? `couldn't get version/kind; json parse error: ${error.message}` : error.message,
    )
  }
}

/** Decodes a JSON body. Throws DecodeError. */
export function decodeJson(body: Uint8Array): DecodedBody {
  const { value, duplicates, floats } = parseJson(utf8(body))
  const findings = duplicates.map((path) => `duplicate field ${quote(path)}`)
  return { value, duplicates: findings, strict: findings, floats }
}

async function decodeYaml(body: Uint8Array): Promise<DecodedBody> {
  const { value, duplicates } = await parseBody(body)
  const strict = duplicates.length > 0 ? [unmarshalErrors(duplicates)] : []
  return { value, duplicates, strict, floats: NO_FLOATS }
}

/** Decodes YAML. Throws DecodeError, with the reason if the lines of a file arrive as one. */
async function parseBody(body: Uint8Array): ReturnType<typeof parseYaml> {
  const text = utf8(body)
  try {
    return await parseYaml(text)
  } catch (error) {
    if (!(error instanceof DecodeError) || /[\r\n]/.test(text) || !error.message.includes('mapping values')) throw error
    throw new DecodeError(
      `${error.message}: the body has no line breaks, which curl keeps with --data-binary, not with -d`,
    )
  }
}

const unmarshalErrors = (lines: readonly string[]): string => `yaml: unmarshal errors:\n  ${lines.join('\n  ')}`

/** Decodes an apply patch as YAML, which includes JSON. An empty text becomes an empty object. */
export async function decodeApply(body: Uint8Array): Promise<{ config: JsonObject; duplicates: string[] }> {
  try {
    const { value, duplicates } = await parseBody(body)
    const config = value ?? {}
    if (isObject(config)) return { config, duplicates }
    const why = `json: cannot unmarshal ${goJsonType(config)} into ${GO_MAP}`
    throw new DecodeError(`error unmarshaling JSON: while decoding JSON: ${why}`)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const where = error.message.startsWith('yaml: ') ? 'error converting YAML to JSON: ' : ''
    throw badRequest(`error decoding YAML: ${where}${error.message}`)
  }
}

/** Returns the 400 for a configuration with duplicate keys. */
export const strictApplyError = (duplicates: readonly string[]): StatusError =>
  badRequest(`error strict decoding YAML: error converting YAML to JSON: ${unmarshalErrors(duplicates)}`)

/** Returns the 400 for a body that is not an object. */
function unrecognized(kind: string, why: string, body: Uint8Array): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${excerpt(body)})`)
}

/** A Kubernetes server quotes the first 30 bytes of any body. */
const SHOWN_BYTES = 30

/**
 * Returns a short body as Kubernetes quotes it. Redacts longer bodies completely: their first bytes may belong to a
 * credential. A body of 30 bytes cannot contain one, because credentials have at least 32 characters.
 */
function excerpt(body: Uint8Array): string {
  if (body.length === 0) return '<empty>'
  if (body.length > SHOWN_BYTES) return '<redacted>'
  const bytes = Buffer.from(body)
  return bytes[0] === 0x7b ? bytes.toString() : bytes.toString('hex')
}
