/**
 * Converts a decoded JSON or YAML value to an object of a kind: decodes type and metadata as Go does, then drops and reports
 * unknown fields. schema/validate.ts validates the values of spec and status.
 * Source: k8s.io/apiserver/pkg/endpoints/handlers (create, update, patch, rest), k8s.io/apiextensions-apiserver
 * (customresource_handler.go).
 */

import { GoDecodeError } from '../encoding/gostruct.ts'
import { json, quoted } from '../encoding/gotext.ts'
import { stringify } from '../encoding/json.ts'
import { type FieldError, invalid } from '../errors/fielderror.ts'
import { badRequest, invalidObject, type StatusError } from '../errors/status.ts'
import { groupVersion, parseGroupVersion } from '../groupversion.ts'
import { decodeMeta } from '../object/decode.ts'
import { decodeTypeMeta } from '../object/typemeta.ts'
import { deprecationWarning, type PruneOptions, prune } from '../schema/prune.ts'
import { redactJson } from '../schema/redact.ts'
import type { KindSchema } from '../schema/schema.ts'
import { writeOnlyFields } from '../schema/writeonly.ts'
import type { GroupVersionKind, JsonValue, KubeObject } from '../types.ts'
import { REDACTED } from '../value/credentials.ts'
import { isObject, own } from '../value/walk.ts'

/** The properties of a kind that decoding needs. */
export interface DecodableKind extends GroupVersionKind {
  schema: KindSchema
}

export interface DecodeOptions extends PruneOptions {
  /** `patch` for the result of a JSON or merge patch, whose errors are 422 instead of 400. */
  source?: 'body' | 'patch'
  /** Omits malformed members of metadata. */
  lenientMeta?: boolean
  /** Leaves a wrong kind (and in a patch a wrong apiVersion) to the validation of the object. */
  typeLater?: boolean
  /** Rejects a wrong kind with 400, like kube-apiserver's built-in kinds, and treats null as an empty object. */
  isCompiled?: boolean
}

export interface Decoded {
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
  const write = source === 'patch' ? json : stringify
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
      return badRequest(`${sent.kind} in version ${quoted(version)} cannot be handled as a ${into}: ${why}`)
    },
  }
}

type Failures = ReturnType<typeof failures>

/** The type that an object declares. */
export interface SentType {
  apiVersion: string
  kind: string
}

/** Returns the declared type; the endpoint supplies absent members (specification 2.1). */
function sentType(
  value: JsonValue,
  kind: DecodableKind,
  { isCompiled = false }: DecodeOptions,
  fail: Failures,
): SentType {
  const sent = readOr(
    () => decodeTypeMeta(value),
    (why) => fail.unrecognized(() => why),
  )
  if (sent.apiVersion.split('/').length > 2) {
    throw fail.unrecognized(() => `unexpected GroupVersion string: ${sent.apiVersion}`)
  }
  if (value === null && !isCompiled) throw fail.unrecognized((body) => `Object 'Kind' is missing in '${body}'`)
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

/** Throws when apiVersion or kind differ from those of the endpoint. */
function checkType(
  sent: SentType,
  name: string,
  kind: DecodableKind,
  { source = 'body', typeLater = false }: DecodeOptions,
): void {
  const expected = groupVersion(kind)
  if (sent.apiVersion !== expected && source === 'body') {
    throw badRequest(
      `the API version in the data (${sent.apiVersion}) does not match the expected API version (${expected})`,
    )
  }
  const errors = typeErrors(sent, kind)
  if (errors.length > 0 && !typeLater) {
    throw invalidObject(parseGroupVersion(sent.apiVersion).group, sent.kind, name, errors)
  }
}

/** Returns the errors in the declared type of an object. */
export function typeErrors(sent: SentType, kind: GroupVersionKind): FieldError[] {
  const expected = groupVersion(kind)
  return [
    ...(sent.kind === kind.kind ? [] : [invalid('kind', sent.kind, `must be ${kind.kind}`)]),
    ...(sent.apiVersion === expected ? [] : [invalid('apiVersion', sent.apiVersion, `must be ${expected}`)]),
  ]
}

/**
 * Decodes the object in a body or in the result of a patch. Throws 400 (422 with `source: 'patch'`), with Kubernetes'
 * messages, for a wrong apiVersion, wrong types in metadata and values that are not objects. Throws 422 for a wrong kind,
 * after calling `judge` (with `isCompiled` 400, before calling it).
 */
export function decodeObject(
  value: JsonValue,
  kind: DecodableKind,
  options: DecodeOptions = {},
  judge?: (decoded: Decoded) => void,
): Decoded {
  const { source = 'body', lenientMeta = false, isCompiled = false } = options
  const fail = failures(value, kind, source)
  const sent = sentType(value, kind, options, fail)
  if (isCompiled && sent.kind !== kind.kind) {
    throw fail.undecodable(`no kind ${quoted(sent.kind)} is registered for version ${quoted(sent.apiVersion)}`, sent)
  }
  const members = isObject(value) ? value : {}
  const { metadata, unknown: unknownMeta } = readOr(
    () => decodeMeta(own(members, 'metadata'), { lenient: lenientMeta }),
    (why) => fail.undecodable(why, sent),
  )
  const { object, unknown, deprecated } = prune(members, schemaOf(sent, kind), options)
  const decoded = {
    object: { ...sent, metadata, ...object },
    unknown: [...unknownMeta, ...(isOf(sent, kind) ? unknown : [])],
    warnings: deprecated.map((one) => deprecationWarning(kind.version, one)),
  }
  judge?.(decoded)
  checkType(sent, metadata.name ?? '', kind, options)
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
