/** Negotiates the form of a response. Source: k8s.io/apiserver endpoints/handlers/negotiation. */

import { NamedText } from '../../meta/encoding/badvalue.ts'
import { aggregate, invalid } from '../../meta/errors/fielderror.ts'
import { badRequest, notAcceptable, plainError, StatusError } from '../../meta/errors/status.ts'
import type { RowObject } from './table.ts'

type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'

/** Versions of ExecCredentials, which have the same fields here: kubectl before 1.22 and some other clients read only v1beta1. */
export type ExecVersion = 'v1' | 'v1beta1'

export interface Output {
  mediaType: 'application/json' | 'application/yaml'
  transform?: { as: Transform; version: 'v1' | 'v1beta1' }
  /** Set if the client asks for the issued credential alone, in this version. Such a client is a credential plugin. */
  execCredential?: ExecVersion
  /** Indents JSON: on request, and for browsers and curl. */
  pretty: boolean
}

interface Clause {
  type: string
  subtype: string
  quality: number
  parameters: ReadonlyMap<string, string>
}

/** Far more clauses than any client sends. The limit keeps the sorting of a hostile header cheap. */
const maxClauses = 64

function parseClause(text: string): Clause | undefined {
  const [media = '', ...rest] = text.split(';').map((part) => part.trim())
  const [type = '', subtype = '', more] = media.split('/').map((part) => part.trim())
  if (!type || more !== undefined || (!subtype && type !== '*')) return undefined
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const at = part.indexOf('=')
    const value = part.slice(at + 1).trim()
    // A parameter without a value is ignored: it must not replace one that has a value.
    if (at > 0 && value !== '') parameters.set(part.slice(0, at).trim(), value)
  }
  const quality = Number(parameters.get('q') ?? '1')
  return { type, subtype: subtype || '*', quality: Number.isNaN(quality) ? 0 : quality, parameters }
}

/** Reports whether `a` goes before `b`: by quality, or by a more specific type at any quality. This is not an order, so the sorting algorithm is part of the rule. */
const precedes = (a: Clause, b: Clause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

/** Returns the clauses, best first, by the insertion sort that Go uses for short slices. Source: goautoneg. */
export function clauses(header: string): Clause[] {
  const sorted: Clause[] = []
  for (const clause of header.split(',').slice(0, maxClauses).map(parseClause)) {
    if (clause) sorted.splice(sorted.findLastIndex((one) => !precedes(clause, one)) + 1, 0, clause)
  }
  return sorted
}

export function acceptedType({ type, subtype }: Clause): Output['mediaType'] | undefined {
  if (type === '*' && subtype === '*') return 'application/json'
  if (type !== 'application') return undefined
  if (subtype === 'json' || subtype === '*') return 'application/json'
  return subtype === 'yaml' ? 'application/yaml' : undefined
}

const transforms: readonly string[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']

/** Returns the type that a clause asks for instead of the object's own: `as`, `g` and `v`. */
export const typeParameters = ({ parameters }: Clause) =>
  ['as', 'g', 'v'].map((name) => parameters.get(name) ?? '') as [as: string, group: string, version: string]

/** Returns the version of the ExecCredential for which a clause asks. Clients of Kubernetes read them from credential plugins. */
export function execVersion(clause: Clause): ExecVersion | undefined {
  const [as, group, version] = typeParameters(clause)
  if (as !== 'ExecCredential' || group !== 'client.authentication.k8s.io') return undefined
  return version === 'v1' || version === 'v1beta1' ? version : undefined
}

/** Returns the transform that a clause asks for; null for an unknown one, which makes the clause unacceptable. */
function transformOf(clause: Clause): Output['transform'] | null {
  const [as, group, version] = typeParameters(clause)
  if (!as && !group && !version) return undefined
  if (!transforms.includes(as) || group !== 'meta.k8s.io') return null
  if (version !== 'v1' && version !== 'v1beta1') return null
  return { as: as as Transform, version }
}

/** Parses a bool like strconv.ParseBool; anything else is false. */
const truthy = (text: string): boolean => ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)

export type Headers = Readonly<Record<string, string>>

/** Reports whether to indent: the clause decides first, then the query, then whether the client is a browser or curl. */
const wantsPretty = (headers: Headers, pretty: string | undefined, clause?: Clause): boolean =>
  clause?.parameters.get('pretty') === '1' ||
  (pretty ? truthy(pretty) : /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? ''))

/** The parts of a request that negotiation reads: Accept, User-Agent and the parameter `pretty`. */
interface Asking {
  headers: Headers
  query: ReadonlyMap<string, readonly string[]>
}

interface Servable {
  watch?: boolean
  /** Whether the answer may be a Table or PartialObjectMetadata. */
  transformable?: boolean
  /** Whether the answer may be an ExecCredential. */
  hasCredential?: boolean
}

/**
 * Returns the form of the response. Clauses that ask for a form which is not servable do not count. Throws 406 when no
 * clause can be served. A watch also throws 406 when the first servable clause is not JSON: it does not try the next one.
 */
export function negotiate(
  { headers, query }: Asking,
  { watch = false, transformable = true, hasCredential = false }: Servable = {},
): Output {
  const pretty = query.get('pretty')?.[0]
  const header = headers.accept?.trim()
  if (!header) return { mediaType: 'application/json', pretty: !watch && wantsPretty(headers, pretty) }
  for (const clause of clauses(header)) {
    const mediaType = acceptedType(clause)
    if (!mediaType) continue
    // `sv` names the schema version, which only kinds have. There is one version.
    const version = clause.parameters.get('sv')
    if (version && (version !== 'v1' || !transformable)) continue
    // Only JSON can be streamed.
    const stream = clause.parameters.get('stream')
    if (stream !== undefined && (stream !== 'watch' || mediaType !== 'application/json')) continue
    const execCredential = hasCredential ? execVersion(clause) : undefined
    const transform = execCredential ? undefined : transformOf(clause)
    if (transform === null || (transform && !transformable)) continue
    if (watch && mediaType !== 'application/json') throw notAcceptable(['application/json;stream=watch'])
    return {
      mediaType,
      ...(transform && { transform }),
      ...(execCredential && { execCredential }),
      pretty: !watch && wantsPretty(headers, pretty, clause),
    }
  }
  throw notAcceptable(['application/json', 'application/yaml'])
}

/** Reports whether a client likes a page best, as a browser does whose address somebody has typed. */
export function prefersPage({ accept = '' }: Headers): boolean {
  const [best] = clauses(accept)
  return best !== undefined && best.quality > 0 && best.type === 'text' && best.subtype === 'html'
}

const openApiV2Protobuf = [
  'com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'com.github.proto-openapi.spec.v2.v1.0+protobuf',
]

/** Returns the form of the OpenAPI v2 document. Throws 406. */
export function negotiateOpenApiV2({ accept = '' }: Headers): 'json' | 'protobuf' {
  for (const clause of clauses(accept.trim() || '*/*')) {
    if (clause.type === 'application' && openApiV2Protobuf.includes(clause.subtype)) return 'protobuf'
    if (acceptedType(clause) === 'application/json') return 'json'
  }
  throw notAcceptable(['application/json', ...openApiV2Protobuf.map((subtype) => `application/${subtype}`)])
}

const discoveryVersions = ['v2', 'v2beta1'] as const

export interface DiscoveryOutput extends Output {
  /** The version of the aggregated form; older clients know only v2beta1. */
  version: (typeof discoveryVersions)[number]
}

/** Returns the aggregated form of discovery when any clause asks for it, or undefined for the plain documents. */
export function negotiateDiscovery({ headers, query }: Asking): DiscoveryOutput | undefined {
  const pretty = query.get('pretty')?.[0]
  const asking = clauses(headers.accept ?? '').filter(
    ({ parameters }) =>
      parameters.get('as') === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io',
  )
  for (const version of discoveryVersions) {
    for (const clause of asking) {
      const mediaType = acceptedType(clause)
      if (!mediaType || clause.parameters.get('v') !== version) continue
      return { mediaType, pretty: wantsPretty(headers, pretty, clause), version }
    }
  }
  return undefined
}

/**
 * Returns the form of a Status, or undefined when no clause can be served. Clauses that ask for a transform do not count.
 * For a client that accepts an ExecCredential and no Status, the form is indented JSON with `execCredential`.
 */
export function negotiateStatus(request: Asking): Output | undefined {
  try {
    return negotiate(request, { transformable: false })
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const execCredential = clauses(request.headers.accept ?? '')
      .map(execVersion)
      .find((version) => version !== undefined)
    return execCredential && { mediaType: 'application/json', execCredential, pretty: true }
  }
}

/** Parses the parameter `includeObject`, which sets how much of its object a table row contains. Throws 400. */
export function includeObject(value: string | undefined): RowObject {
  if (value === undefined || value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  const why = invalid('includeObject', new NamedText(value), "must be 'Metadata', 'Object', 'None', or empty")
  throw badRequest(`Unable to convert to Table as requested: ${aggregate([why])}`)
}

/** Returns the error for a transform that does not fit the response, such as a list's transform for one object. */
export function transformError(as: Transform, isList: boolean): StatusError | undefined {
  if (as === 'PartialObjectMetadata' && isList) {
    const error = notAcceptable([])
    error.status.message =
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)'
    return error
  }
  return as === 'PartialObjectMetadataList' && !isList ? plainError('content is not a list') : undefined
}
