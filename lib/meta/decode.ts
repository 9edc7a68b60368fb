/**
 * From a decoded JSON or YAML value to an object of a kind: type and metadata read in Go's terms, unknown fields dropped
 * and named. What the values of spec and status must be is validateschema.ts.
 * Source: k8s.io/apiserver/pkg/endpoints/handlers (create, update, patch, rest), k8s.io/apiextensions-apiserver
 * (customresource_handler.go).
 */
import { type DecodedMeta, decodeMeta, MetaDecodeError } from './decodemeta.ts'
import { badRequest, invalidObject, type StatusError } from './errors.ts'
import { invalid } from './field.ts'
import { quoted } from './gotext.ts'
import { groupVersion, parseGroupVersion } from './groupversion.ts'
import { stringify } from './json.ts'
import { deprecationWarning, type KindSchema, type PruneOptions, prune } from './prune.ts'
import { redactJson } from './redact.ts'
import type { GroupVersionKind, JsonObject, JsonValue, KubeObject } from './types.ts'
import { isObject, own } from './walk.ts'

/** What decoding needs to know of a kind. */
export interface DecodableKind extends GroupVersionKind {
  schema: KindSchema
}

export interface DecodeOptions extends PruneOptions {
  /** `patch` for the result of a JSON or merge patch: what is a 400 in a body is a 422 there. */
  source?: 'body' | 'patch'
  /** Leave out what is malformed in metadata. */
  lenientMeta?: boolean
  /** Take absent apiVersion and kind from the endpoint (specification 2.1), as kinds do that store nothing. */
  inferType?: boolean
}

export interface Decoded {
  object: KubeObject
  /** Paths of dropped fields: those of metadata first, then the others by bytes. */
  unknown: string[]
  /** Warnings about deprecated fields, whatever fieldValidation says. */
  warnings: string[]
}

const goType = (value: JsonValue): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'bigint'
        ? 'number'
        : typeof value

/** The beginning of a body as kube-apiserver shows it: text for an object, hexadecimal for anything else. */
function summary(text: string): string {
  const bytes = Buffer.from(text)
  const shown = bytes.subarray(0, 30)
  const more = bytes.length > 30 ? ' ...' : ''
  return (text.startsWith('{') ? shown.toString() : shown.toString('hex')) + more
}

/** kube-apiserver quotes whole bodies; an answer of ours must stay smaller than Lambda's 6 MB. */
const maxQuoted = 16_384

const shortened = (text: string): string => (text.length > maxQuoted ? `${text.slice(0, maxQuoted)} ...` : text)

/** One way to fail, for bodies (400) and for results of patches (422 on the field `patch`). Never shows a secret. */
function failures(value: JsonValue, kind: DecodableKind, source: 'body' | 'patch') {
  const text = (): string => shortened(stringify(redactJson(value, kind.schema)))
  const patched = (why: string): StatusError => invalidObject('', '', '', [invalid('patch', text(), why)])
  return {
    unrecognized: (why: (body: string) => string): StatusError => {
      const body = text()
      if (source === 'patch') return patched(why(body))
      const what = `the object provided is unrecognized (must be of type ${kind.kind})`
      return badRequest(`${what}: ${why(body)} (${summary(body)})`)
    },
    undecodable: (why: string, sent: SentType): StatusError => {
      if (source === 'patch') return patched(why)
      const { version } = parseGroupVersion(sent.apiVersion)
      return badRequest(`${sent.kind} in version ${quoted(version)} cannot be handled as a ${kind.kind}: ${why}`)
    },
  }
}

type Failures = ReturnType<typeof failures>

const TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

function typeText(value: JsonObject, field: 'apiVersion' | 'kind', fail: Failures): string {
  const sent = own(value, field) ?? ''
  if (typeof sent === 'string') return sent
  const why = `json: cannot unmarshal ${goType(sent)} into Go struct field .${field} of type string`
  throw fail.unrecognized(() => `couldn't get version/kind; json parse error: ${why}`)
}

interface SentType {
  apiVersion: string
  kind: string
}

/** What the value says it is, with what the endpoint says in the place of what is absent. Throws where that must not be. */
function sentType(
  value: JsonObject,
  kind: DecodableKind,
  { inferType = false }: DecodeOptions,
  fail: Failures,
): SentType {
  const apiVersion = typeText(value, 'apiVersion', fail)
  const sent = typeText(value, 'kind', fail)
  if (inferType) return { apiVersion: apiVersion || groupVersion(kind), kind: sent || kind.kind }
  if (sent === '') throw fail.unrecognized((body) => `Object 'Kind' is missing in '${body}'`)
  return { apiVersion, kind: sent }
}

/** Throws unless apiVersion and kind are the endpoint's. */
function checkType(sent: SentType, name: string, kind: DecodableKind, source: 'body' | 'patch'): void {
  const expected = groupVersion(kind)
  if (sent.apiVersion !== expected && source === 'body') {
    throw badRequest(
      `the API version in the data (${sent.apiVersion}) does not match the expected API version (${expected})`,
    )
  }
  const errors = [
    ...(sent.kind === kind.kind ? [] : [invalid('kind', sent.kind, `must be ${kind.kind}`)]),
    ...(sent.apiVersion === expected ? [] : [invalid('apiVersion', sent.apiVersion, `must be ${expected}`)]),
  ]
  if (errors.length > 0) throw invalidObject(parseGroupVersion(sent.apiVersion).group, sent.kind, name, errors)
}

/**
 * The object that a body or the result of a patch stands for. Throws 400 (422 with `source: 'patch'`) in Kubernetes'
 * words for another apiVersion, wrong types in metadata and what is no object; 422 for another kind.
 */
export function decodeObject(value: JsonValue, kind: DecodableKind, options: DecodeOptions = {}): Decoded {
  const { source = 'body' } = options
  const fail = failures(value, kind, source)
  if (!isObject(value)) {
    if (value === null) throw fail.unrecognized((body) => `Object 'Kind' is missing in '${body}'`)
    const why = `json: cannot unmarshal ${goType(value)} into Go value of type ${TYPE_META}`
    throw fail.unrecognized(() => `couldn't get version/kind; json parse error: ${why}`)
  }
  const sent = sentType(value, kind, options, fail)
  const { metadata, unknown: unknownMeta } = readMeta(value, sent, options, fail)
  checkType(sent, metadata.name ?? '', kind, source)
  const { object, unknown, deprecated } = prune(value, kind.schema, options)
  return {
    object: { ...sent, metadata, ...object },
    unknown: [...unknownMeta, ...unknown],
    warnings: deprecated.map((one) => deprecationWarning(kind.version, one)),
  }
}

function readMeta(
  value: JsonObject,
  sent: SentType,
  { lenientMeta = false }: DecodeOptions,
  fail: Failures,
): DecodedMeta {
  try {
    return decodeMeta(own(value, 'metadata'), { lenient: lenientMeta })
  } catch (error) {
    if (!(error instanceof MetaDecodeError)) throw error
    throw fail.undecodable(error.message, sent)
  }
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
): StatusError {
  const sent = { apiVersion: groupVersion(kind), kind: kind.kind }
  return failures(value, kind, source).undecodable(`strict decoding error: ${findings.join(', ')}`, sent)
}
