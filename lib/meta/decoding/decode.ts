/**
 * From a decoded JSON or YAML value to an object of a kind: type and metadata read in Go's terms, unknown fields dropped
 * and named. What the values of spec and status must be is validateschema.ts.
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

/** What decoding needs to know of a kind. */
export interface DecodableKind extends GroupVersionKind {
  schema: KindSchema
}

export interface DecodeOptions extends PruneOptions {
  /** `patch` for the result of a JSON or merge patch: what is a 400 in a body is a 422 there. */
  source?: 'body' | 'patch'
  /** Leave out what is malformed in metadata. */
  lenientMeta?: boolean
  /** Leave it to the validation of the object to refuse another kind (and in a patch another apiVersion). */
  typeLater?: boolean
  /** Another kind is a 400, as for kinds that are compiled into a kube-apiserver, and null is an empty object. */
  isCompiled?: boolean
}

export interface Decoded {
  object: KubeObject
  /** Paths of dropped fields: those of metadata first, then the others by bytes. */
  unknown: string[]
  /** Warnings about deprecated fields, whatever fieldValidation says. */
  warnings: string[]
}

const SHOWN_BYTES = 30

/** The beginning of a body as kube-apiserver shows it: text for an object, hexadecimal for anything else. */
function summary(text: string): string {
  if (text === stringify(REDACTED)) return REDACTED
  const bytes = Buffer.from(text)
  const shown = bytes.subarray(0, SHOWN_BYTES)
  const more = bytes.length > SHOWN_BYTES ? ' ...' : ''
  return (text.startsWith('{') ? shown.toString() : shown.toString('hex')) + more
}

/** kube-apiserver quotes whole bodies; an answer of ours must stay smaller than Lambda's 6 MB. */
const MAX_QUOTED = 16_384

const shortened = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)} ...` : text)

/** One way to fail, for bodies (400) and for results of patches (422 on the field `patch`). Never shows a secret. */
function failures(value: JsonValue, kind: DecodableKind, source: 'body' | 'patch') {
  // Go sorts the members of what a patch made, and leaves a body as it came. What has no text in it has no secret.
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

/** What an object says it is. */
export interface SentType {
  apiVersion: string
  kind: string
}

/** What the value says it is, with what the endpoint says in the place of what is left out (specification 2.1). */
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

/** Whether it is an object of the kind, if of another version. */
const isOf = (sent: SentType, { group, kind }: DecodableKind): boolean =>
  sent.kind === kind && parseGroupVersion(sent.apiVersion).group === group

/** A version that is not served has no fields. */
const schemaOf = (sent: SentType, kind: DecodableKind): KindSchema =>
  isOf(sent, kind) && parseGroupVersion(sent.apiVersion).version !== kind.version ? {} : kind.schema

/** Throws `failure` of what Go has to say of wrong types. */
function readOr<T>(read: () => T, failure: (why: string) => StatusError): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof GoDecodeError ? failure(error.message) : error
  }
}

/** Throws unless apiVersion and kind are the endpoint's. */
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

/** What is wrong with what an object says it is. */
export function typeErrors(sent: SentType, kind: GroupVersionKind): FieldError[] {
  const expected = groupVersion(kind)
  return [
    ...(sent.kind === kind.kind ? [] : [invalid('kind', sent.kind, `must be ${kind.kind}`)]),
    ...(sent.apiVersion === expected ? [] : [invalid('apiVersion', sent.apiVersion, `must be ${expected}`)]),
  ]
}

/**
 * The object that a body or the result of a patch stands for. Throws 400 (422 with `source: 'patch'`) in Kubernetes'
 * words for another apiVersion, wrong types in metadata and what is no object; 422 for another kind, after `judge`
 * (400 before it with `isCompiled`).
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

/** What a body says twice and what the kind does not have, one text each: duplicates first. Warnings, or one error. */
export function fieldFindings(duplicates: readonly string[], unknown: readonly string[]): string[] {
  return [...duplicates.map((path) => `duplicate field "${path}"`), ...unknown.map((path) => `unknown field "${path}"`)]
}

/** The refusal of fieldValidation=Strict: 400, for the result of a patch 422 on the field `patch`. */
export function strictDecodingError(
  value: JsonValue,
  kind: DecodableKind,
  findings: readonly string[],
  source: 'body' | 'patch' = 'body',
  sent: SentType = { apiVersion: groupVersion(kind), kind: kind.kind },
): StatusError {
  return failures(value, kind, source).undecodable(`strict decoding error: ${findings.join(', ')}`, sent, sent.kind)
}
