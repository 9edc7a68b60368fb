/**
 * Converts a decoded JSON or YAML value to an object of a kind: decodes type and metadata as Go does, then drops and reports
 * unknown fields. schema/validate.ts validates the values of spec and status.
 * Source: k8s.io/apiserver/pkg/endpoints/handlers (create, update, patch, rest), k8s.io/apiextensions-apiserver
 * (customresource_handler.go).
 */

import { GoDecodeError } from '../encoding/gostruct.ts'
import { encodeGoJson, quote } from '../encoding/gotext.ts'
import { stringify } from '../encoding/json.ts'
import { type FieldError, invalid } from '../errors/fielderror.ts'
import { badRequest, invalidObject, type StatusError } from '../errors/status.ts'
import { groupVersion, parseGroupVersion } from '../groupversion.ts'
import { decodeMeta } from '../object/decodemeta.ts'
import { decodeTypeMeta } from '../object/typemeta.ts'
import { deprecationWarning, prune } from '../schema/prune.ts'
import { redactJson } from '../schema/redact.ts'
import type { KindSchema } from '../schema/schema.ts'
import { writeOnlyFields } from '../schema/writeonly.ts'
import type { GroupVersionKind, JsonValue, KubeObject } from '../types.ts'
import { REDACTED } from '../value/credentialtext.ts'
import { isObject, own } from '../value/walk.ts'

/** The properties of a kind that decoding needs. */
export interface DecodableKind extends GroupVersionKind {
  schema: KindSchema
  /** Whether null members are kept, for the validation to refuse; they are dropped otherwise. */
  selectsObjects?: true
}

export interface DecodedObject {
  object: KubeObject
  /** Paths of dropped fields: first those of metadata, then the others in byte order. */
  unknown: string[]
  /** Warnings about deprecated fields, independent of fieldValidation. */
  warnings: string[]
}

const SHOWN_BYTES = 30

/** Returns the beginning of a body as kube-apiserver quotes it: text for an object, hexadecimal for anything else. */
function summary(text: string): string {
  if (text === stringify(REDACTED)) return REDACTED
  const bytes = Buffer.from(text)
  const shown = bytes.subarray(0, SHOWN_BYTES)
  const more = bytes.length > SHOWN_BYTES ? ' ...' : ''
  return (text.startsWith('{') ? shown.toString() : shown.toString('hex')) + more
}

/** Limits quoted bodies: kube-apiserver quotes them whole, but a response must stay below Lambda's 6 MB. */
const MAX_QUOTED = 16_384

const shortened = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)} ...` : text)

/** Builds the errors for bodies (400) and for results of patches (422 on the field `patch`). Redacts secrets. */
function failures(value: JsonValue, kind: DecodableKind, source: 'body' | 'patch') {
  // Go sorts the members of a patched object but leaves a body as it was sent. A value without strings has no secret.
  const write = source === 'patch' ? encodeGoJson : stringify
  const hasSecrets = writeOnlyFields(kind.schema).length > 0
  const text = (): string => {
    const whole = write(value)
    return shortened(hasSecrets && whole.includes('"') ? write(redactJson(value, kind.schema)) : whole)
  }
  const patched = (why: string): StatusError => invalidObject('', '', '', [invalid('patch', text(), why)])
  return {
    unrecognized: (why: (body: string) => string): StatusError => {
      const body = text()
      if (source === 'patch') return patched(why(body))
      const what = `the object provided is unrecognized (must be of type ${kind.kind})`
      return badRequest(`${what}: ${why(body)} (${summary(body)})`)
    },
    undecodable: (why: string, sent: SentType, into = kind.kind): StatusError => {
      if (source === 'patch') return patched(why)
      const { version } = parseGroupVersion(sent.apiVersion)
      return badRequest(`${sent.kind} in version ${quote(version)} cannot be handled as a ${into}: ${why}`)
    },
  }
}

type Failures = ReturnType<typeof failures>

/** The type that an object declares. */
interface SentType {
  apiVersion: string
  kind: string
}

/** Returns the declared type; the endpoint supplies absent members (specification 2.1). */
function sentType(value: JsonValue, kind: DecodableKind, fail: Failures): SentType {
  const sent = readOr(
    () => decodeTypeMeta(value),
    (why) => fail.unrecognized(() => why),
  )
  if (sent.apiVersion.split('/').length > 2) {
    throw fail.unrecognized(() => `unexpected GroupVersion string: ${sent.apiVersion}`)
  }
  return { apiVersion: sent.apiVersion || groupVersion(kind), kind: sent.kind || kind.kind }
}

/** Reports whether the object has the expected group and kind, in any version. */
const isOf = (sent: SentType, { group, kind }: DecodableKind): boolean =>
  sent.kind === kind && parseGroupVersion(sent.apiVersion).group === group

/** Returns an empty schema for a version that is not served. */
const schemaOf = (sent: SentType, kind: DecodableKind): KindSchema =>
  isOf(sent, kind) && parseGroupVersion(sent.apiVersion).version !== kind.version ? {} : kind.schema

/** Throws `failure` of Go's message when a type is wrong. */
function readOr<T>(read: () => T, failure: (why: string) => StatusError): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof GoDecodeError ? failure(error.message) : error
  }
}

/** Throws 400 for another apiVersion than the endpoint's. */
export function checkApiVersion({ apiVersion }: SentType, kind: GroupVersionKind): void {
  const expected = groupVersion(kind)
  if (apiVersion === expected) return
  throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected})`)
}

/** Returns the errors in the declared type of an object. */
export function typeErrors(sent: SentType, kind: GroupVersionKind): FieldError[] {
  const expected = groupVersion(kind)
  return [
    ...(sent.kind === kind.kind ? [] : [invalid('kind', sent.kind, `must be ${kind.kind}`)]),
    ...(sent.apiVersion === expected ? [] : [invalid('apiVersion', sent.apiVersion, `must be ${expected}`)]),
  ]
}

/** Throws unless the value is an object: kube-apiserver treats null as an object without a kind. */
function refuseNull(value: JsonValue, fail: Failures): void {
  if (value === null) throw fail.unrecognized((body) => `Object 'Kind' is missing in '${body}'`)
}

/** Decodes metadata in Go's terms and prunes the other members. */
function decodeMembers(
  value: JsonValue,
  kind: DecodableKind,
  sent: SentType,
  fail: Failures,
  { lenientMeta = false, keepNulls = false } = {},
): DecodedObject {
  const members = isObject(value) ? value : {}
  const { metadata, unknown: unknownMeta } = readOr(
    () => decodeMeta(own(members, 'metadata'), { lenient: lenientMeta }),
    (why) => fail.undecodable(why, sent),
  )
  const { object, unknown, deprecated } = prune(members, schemaOf(sent, kind), { keepNulls })
  return {
    object: { ...sent, metadata, ...object },
    unknown: [...unknownMeta, ...(isOf(sent, kind) ? unknown : [])],
    warnings: deprecated.map((one) => deprecationWarning(kind.version, one)),
  }
}

/**
 * Decodes the body of a create or update. Throws 400 for wrong types in metadata and for values that are not objects. The
 * handler judges unknown fields before it calls `checkApiVersion`; the registry refuses a wrong kind.
 */
export const decodeObject = (value: JsonValue, kind: DecodableKind): DecodedObject => decodeWhole(value, kind, 'body')

/** Decodes the result of a JSON patch or merge patch, whose errors are 422. The registry refuses a wrong type. */
export const decodePatched = (value: JsonValue, kind: DecodableKind): DecodedObject => decodeWhole(value, kind, 'patch')

function decodeWhole(value: JsonValue, kind: DecodableKind, source: 'body' | 'patch'): DecodedObject {
  const fail = failures(value, kind, source)
  const sent = sentType(value, kind, fail)
  refuseNull(value, fail)
  return decodeMembers(value, kind, sent, fail)
}

/** Decodes a body like the built-in kinds of kube-apiserver: a wrong kind is a 400, and null is an empty object. */
export function decodeBuiltIn(value: JsonValue, kind: DecodableKind): DecodedObject {
  const fail = failures(value, kind, 'body')
  const sent = sentType(value, kind, fail)
  if (sent.kind !== kind.kind) {
    throw fail.undecodable(`no kind ${quote(sent.kind)} is registered for version ${quote(sent.apiVersion)}`, sent)
  }
  return decodeMembers(value, kind, sent, fail, { keepNulls: kind.selectsObjects === true })
}

/**
 * Decodes the result of an apply, whose managers are already computed: it omits malformed metadata, and keeps nulls for the
 * validation to refuse. Throws 400 for another apiVersion and 422 for another kind.
 */
export function decodeApplied(value: JsonValue, kind: DecodableKind): DecodedObject {
  const fail = failures(value, kind, 'body')
  const sent = sentType(value, kind, fail)
  refuseNull(value, fail)
  const decoded = decodeMembers(value, kind, sent, fail, { lenientMeta: true, keepNulls: true })
  checkApiVersion(sent, kind)
  const errors = typeErrors(sent, kind)
  if (errors.length > 0) throw invalidObject(kind.group, sent.kind, decoded.object.metadata.name ?? '', errors)
  return decoded
}

/** Returns a message for each duplicate and each unknown field, duplicates first, for Warnings or a strict error. */
export function fieldFindings(duplicates: readonly string[], unknown: readonly string[]): string[] {
  return [...duplicates.map((path) => `duplicate field "${path}"`), ...unknown.map((path) => `unknown field "${path}"`)]
}

/** Returns the error for fieldValidation=Strict: 400, or 422 on the field `patch` for the result of a patch. */
export function strictDecodingError(
  value: JsonValue,
  kind: DecodableKind,
  findings: readonly string[],
  source: 'body' | 'patch' = 'body',
  sent: SentType = { apiVersion: groupVersion(kind), kind: kind.kind },
): StatusError {
  return failures(value, kind, source).undecodable(`strict decoding error: ${findings.join(', ')}`, sent, sent.kind)
}
