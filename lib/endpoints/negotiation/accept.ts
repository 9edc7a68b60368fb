/**
 * Accept: which form an answer takes. Source: k8s.io/apiserver endpoints/handlers/negotiation.
 */

import { NamedText } from '../../meta/encoding/badvalue.ts'
import { aggregate, invalid } from '../../meta/errors/fielderror.ts'
import { badRequest, notAcceptable, plainError, StatusError } from '../../meta/errors/status.ts'
import type { RowObject } from '../../printers/table.ts'

export type Transform = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'

export interface Output {
  mediaType: 'application/json' | 'application/yaml'
  transform?: { as: Transform; version: 'v1' | 'v1beta1' }
  /** Indented, for people: asked for, or a browser or curl. */
  pretty: boolean
}

interface Clause {
  type: string
  subtype: string
  quality: number
  parameters: ReadonlyMap<string, string>
}

/** Far more than any client sends; keeps the sort of a hostile header cheap. */
const maxClauses = 64

function parseClause(text: string): Clause | undefined {
  const [media = '', ...rest] = text.split(';').map((part) => part.trim())
  const [type = '', subtype = '', more] = media.split('/').map((part) => part.trim())
  if (!type || more !== undefined || (!subtype && type !== '*')) return undefined
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const at = part.indexOf('=')
    const value = part.slice(at + 1).trim()
    // Without a value it is as if it were not there, and does not take the place of one with a value.
    if (at > 0 && value !== '') parameters.set(part.slice(0, at).trim(), value)
  }
  const quality = Number(parameters.get('q') ?? '1')
  return { type, subtype: subtype || '*', quality: Number.isNaN(quality) ? 0 : quality, parameters }
}

/** Better, or more exact, which then counts whatever the quality: no order, so how it is sorted is part of the rule. */
const precedes = (a: Clause, b: Clause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

/** Best first, each put in after the last one that it does not precede. Source: goautoneg, sorted as Go sorts so few. */
function clauses(header: string): Clause[] {
  const sorted: Clause[] = []
  for (const clause of header.split(',').slice(0, maxClauses).map(parseClause)) {
    if (clause) sorted.splice(sorted.findLastIndex((one) => !precedes(clause, one)) + 1, 0, clause)
  }
  return sorted
}

function mediaTypeOf({ type, subtype }: Clause): Output['mediaType'] | undefined {
  if (type === '*' && subtype === '*') return 'application/json'
  if (type !== 'application') return undefined
  if (subtype === 'json' || subtype === '*') return 'application/json'
  return subtype === 'yaml' ? 'application/yaml' : undefined
}

const transforms: readonly string[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']

/** The transform a clause asks for; null = one that nobody serves, so the clause is not acceptable. */
function transformOf({ parameters }: Clause): Output['transform'] | null {
  const [as = '', group = '', version = ''] = ['as', 'g', 'v'].map((name) => parameters.get(name))
  if (!as && !group && !version) return undefined
  if (!transforms.includes(as) || group !== 'meta.k8s.io') return null
  if (version !== 'v1' && version !== 'v1beta1') return null
  return { as: as as Transform, version }
}

/** strconv.ParseBool; what does not parse is false. */
const truthy = (text: string): boolean => ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)

type Headers = Readonly<Record<string, string>>

/** The clause's own wish counts first, then the query's, then whether it is a browser or curl that asks. */
const wantsPretty = (headers: Headers, pretty: string | undefined, clause?: Clause): boolean =>
  clause?.parameters.get('pretty') === '1' ||
  (pretty ? truthy(pretty) : /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? ''))

const acceptedTypes = ['application/json', 'application/yaml']
const streamedTypes = ['application/json;stream=watch']

/**
 * Chooses the form of the answer; what is not `transformable` has one form. Throws 406 when no clause can be served, and
 * for a watch also where the one that would be is not of JSON: another clause is not looked for.
 */
export function negotiate(
  headers: Headers,
  pretty: string | undefined,
  { watch = false, transformable = true }: { watch?: boolean; transformable?: boolean } = {},
): Output {
  const header = headers.accept?.trim()
  if (!header) return { mediaType: 'application/json', pretty: !watch && wantsPretty(headers, pretty) }
  for (const clause of clauses(header)) {
    const mediaType = mediaTypeOf(clause)
    if (!mediaType) continue
    // The version of the API's own types, of which there is one: only kinds have it.
    const version = clause.parameters.get('sv')
    if (version && (version !== 'v1' || !transformable)) continue
    if ((clause.parameters.get('stream') ?? 'watch') !== 'watch') continue
    const transform = transformOf(clause)
    if (transform === null || (transform && !transformable)) continue
    if (watch && mediaType !== 'application/json') throw notAcceptable(streamedTypes)
    return {
      mediaType,
      ...(transform && { transform }),
      pretty: !watch && wantsPretty(headers, pretty, clause),
    }
  }
  throw notAcceptable(acceptedTypes)
}

const openApiV2Protobuf = [
  'com.github.proto-openapi.spec.v2@v1.0+protobuf',
  'com.github.proto-openapi.spec.v2.v1.0+protobuf',
]

/** The form of OpenAPI v2, which has two. Throws 406. */
export function negotiateOpenApiV2({ accept = '' }: Headers): 'json' | 'protobuf' {
  for (const clause of clauses(accept.trim() || '*/*')) {
    if (clause.type === 'application' && openApiV2Protobuf.includes(clause.subtype)) return 'protobuf'
    if (mediaTypeOf(clause) === 'application/json') return 'json'
  }
  throw notAcceptable(['application/json', ...openApiV2Protobuf.map((subtype) => `application/${subtype}`)])
}

const discoveryVersions = ['v2', 'v2beta1'] as const

export interface DiscoveryOutput extends Output {
  /** Of the aggregated form. v2beta1 is for clients that know no other. */
  version: (typeof discoveryVersions)[number]
}

/** The aggregated form of discovery, where any clause asks for it; undefined = the plain documents. */
export function negotiateDiscovery(headers: Headers, pretty: string | undefined): DiscoveryOutput | undefined {
  const asking = clauses(headers.accept ?? '').filter(
    ({ parameters }) =>
      parameters.get('as') === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io',
  )
  for (const version of discoveryVersions) {
    for (const clause of asking) {
      const mediaType = mediaTypeOf(clause)
      if (!mediaType || clause.parameters.get('v') !== version) continue
      return { mediaType, pretty: wantsPretty(headers, pretty, clause), version }
    }
  }
  return undefined
}

/**
 * The form of a Status: a clause that asks for a transform is not one for a Status. undefined where none of the clauses
 * can be served.
 */
export function negotiateStatus(headers: Headers, pretty: string | undefined): Output | undefined {
  try {
    return negotiate(headers, pretty, { transformable: false })
  } catch (error) {
    if (error instanceof StatusError) return undefined
    throw error
  }
}

/** The parameter `includeObject`: what of the objects stands in table rows. Throws 400 for anything else. */
export function includeObject(value: string | undefined): RowObject {
  if (value === undefined || value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  const why = invalid('includeObject', new NamedText(value), "must be 'Metadata', 'Object', 'None', or empty")
  throw badRequest(`Unable to convert to Table as requested: ${aggregate([why])}`)
}

/** The refusal of a transform that does not fit what is answered. */
export function unfit(as: Transform, isList: boolean): StatusError | undefined {
  if (as === 'PartialObjectMetadata' && isList) {
    const error = notAcceptable([])
    error.status.message =
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)'
    return error
  }
  return as === 'PartialObjectMetadataList' && !isList ? plainError('content is not a list') : undefined
}
