/**
 * Accept: which form an answer takes. Source: k8s.io/apiserver endpoints/handlers/negotiation.
 */
import { badRequest, notAcceptable, plainError, type StatusError } from '../meta/errors.ts'

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
  const [type = '', subtype = '', more] = media.split('/')
  if (!type || more !== undefined || (!subtype && type !== '*')) return undefined
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const at = part.indexOf('=')
    if (at > 0) parameters.set(part.slice(0, at).trim(), part.slice(at + 1).trim())
  }
  const quality = Number(parameters.get('q') ?? '1')
  return { type, subtype: subtype || '*', quality: Number.isFinite(quality) ? quality : 1, parameters }
}

const specificity = ({ type, subtype }: Clause): number => (type === '*' ? 0 : subtype === '*' ? 1 : 2)

/** Best first: by quality, then by how exact the clause is, then as written. */
function clauses(header: string): Clause[] {
  return header
    .split(',')
    .slice(0, maxClauses)
    .map(parseClause)
    .filter((clause) => clause !== undefined)
    .sort((a, b) => b.quality - a.quality || specificity(b) - specificity(a))
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
const truthy = (text: string | undefined): boolean => ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text ?? '')

const acceptedTypes = ['application/json', 'application/yaml']

/**
 * Chooses the form of the answer. Watches are JSON only; what is not `transformable` has one form. Throws 406 when no
 * clause can be served.
 */
export function negotiate(
  headers: Readonly<Record<string, string>>,
  pretty: string | undefined,
  { watch = false, transformable = true }: { watch?: boolean; transformable?: boolean } = {},
): Output {
  const wantsPretty = (clause?: Clause): boolean =>
    pretty === undefined
      ? clause?.parameters.get('pretty') === '1' || /^(curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '')
      : truthy(pretty)
  const header = headers.accept?.trim()
  if (!header) return { mediaType: 'application/json', pretty: !watch && wantsPretty() }
  for (const clause of clauses(header)) {
    const mediaType = mediaTypeOf(clause)
    if (!mediaType || (watch && mediaType !== 'application/json')) continue
    // Nobody is served another version of an object than that of its path (sv).
    if (clause.parameters.get('sv') || !['', 'watch'].includes(clause.parameters.get('stream') ?? '')) continue
    const transform = transformOf(clause)
    if (transform === null || (transform && !transformable)) continue
    return { mediaType, ...(transform && { transform }), pretty: !watch && wantsPretty(clause) }
  }
  throw notAcceptable(watch ? ['application/json;stream=watch'] : acceptedTypes)
}

/**
 * The form of a Status: a clause that asks for a transform is not one for a Status. undefined where none of the clauses
 * can be served.
 */
export function negotiateStatus(
  headers: Readonly<Record<string, string>>,
  pretty: string | undefined,
): Output | undefined {
  try {
    return negotiate(headers, pretty, { transformable: false })
  } catch {
    return undefined
  }
}

/** What `includeObject` says of the objects in table rows. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** Throws 400 for anything else. */
export function includeObject(value: string | undefined): IncludeObject {
  if (value === undefined || value === '' || value === 'Metadata') return 'Metadata'
  if (value === 'None' || value === 'Object') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
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
