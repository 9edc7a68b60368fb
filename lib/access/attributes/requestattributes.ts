/**
 * Derives a request's attributes from API Gateway's routing: the template of the matched route and its parameters,
 * never the path. The route that serves a request is therefore the one that is authorized. Source of the path formats:
 * k8s.io/apiserver request.RequestInfo.
 */
import { formatValue } from '../../engine/meta/encoding/badvalue.ts'
import { parseQueryFlag } from '../../engine/meta/encoding/strconv.ts'
import { badRequest, StatusError } from '../../engine/meta/errors/status.ts'
import { pathSegmentErrors } from '../../engine/meta/object/names.ts'
import { parseFieldSelector, requiredValues } from '../../engine/meta/selectors/fields.ts'
import type { Attributes } from './attributes.ts'

/** The members of an API Gateway proxy or authorizer event that this module reads. */
export interface RoutedRequest {
  /** `/base/apis/GROUP/VERSION/namespaces/{namespace}/RESOURCE/{name}/SUBRESOURCE` */
  resource: string
  httpMethod: string
  pathParameters?: Readonly<Record<string, string | undefined>> | null
  multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null
}

interface RoutingOptions {
  /** A prefix such as `/kubernetes/management`, removed so that paths match those of a Kubernetes API. */
  basePath: string
  /** The plural names of namespaced resources. */
  namespaced: ReadonlySet<string>
}

interface VerbRow {
  method: string
  /** The verb when the route has a name, when it has none, and when it has none and the request asks for a watch. */
  named: string
  unnamed: string
  watching: string
}

const VERBS: readonly VerbRow[] = [
  { method: 'POST', named: 'create', unnamed: 'create', watching: 'create' },
  { method: 'GET', named: 'get', unnamed: 'list', watching: 'watch' },
  { method: 'HEAD', named: 'get', unnamed: 'list', watching: 'watch' },
  { method: 'PUT', named: 'update', unnamed: 'update', watching: 'update' },
  { method: 'PATCH', named: 'patch', unnamed: 'patch', watching: 'patch' },
  { method: 'DELETE', named: 'delete', unnamed: 'deletecollection', watching: 'deletecollection' },
]

/** The verbs for which a field selector on metadata.name limits the request to that one object. */
const SELECTING: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

/**
 * Returns the attributes of the request. A route without a resource is a request for its path. Throws 400 when a
 * parameter is not a valid path segment.
 */
export function requestAttributes(request: RoutedRequest, options: RoutingOptions): Attributes {
  const steps = stepsOf(request, options.basePath)
  const target = { type: 'Management' as const }
  const resource = resourceSteps(steps)
  if (resource === undefined) {
    const path = belowBase(`/${steps.map(({ text }) => text).join('/')}`, options.basePath)
    return { kind: 'nonresource', target, verb: request.httpMethod.toLowerCase(), path }
  }
  const { namespace, rest, ...gr } = resource
  const [name = '', subresource = ''] = rest
  const verb = verbOf(request, name)
  const asked = SELECTING.has(verb) ? selectedName(request) : name
  // A list or watch of one namespace asks for no more than a get of it.
  const isNamespace = gr.group === '' && gr.resource === 'namespaces'
  return {
    kind: 'resource',
    target,
    verb,
    ...gr,
    subresource,
    namespace: isNamespace ? asked : namespace,
    name: asked,
    ...(namespace === '' && options.namespaced.has(gr.resource) && { allNamespaces: true as const }),
  }
}

/**
 * Returns the path of the request below the base path, as the matched route spells it. Unlike the path of the event, it never
 * has the stage or the base path of a custom domain.
 */
export function routedPath({ resource, pathParameters }: RoutedRequest, basePath: string): string {
  const path = resource.replace(/\{([^{}+]+)\+?\}/g, (_, name: string) => parameterOf(pathParameters, name))
  return belowBase(path, basePath)
}

const parameterOf = (parameters: RoutedRequest['pathParameters'], name: string): string =>
  (parameters && Object.hasOwn(parameters, name) && parameters[name]) || ''

/** Returns the path without the base path, if it starts with it. */
export function belowBase(path: string, basePath: string): string {
  if (path === basePath) return '/'
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path
}

/** A segment of the route: literal text of the template, or the value of a parameter. */
interface Step {
  text: string
  literal: boolean
}

function stepsOf({ resource, pathParameters }: RoutedRequest, basePath: string): Step[] {
  return belowBase(resource, basePath)
    .split('/')
    .filter((step) => step !== '')
    .map((step) => {
      const parameter = /^\{([^}+]+)(\+?)\}$/.exec(step)
      if (parameter === null) return { text: step, literal: true }
      const [, name = '', greedy] = parameter
      const text = parameterOf(pathParameters, name)
      return { text: greedy ? text : checkPathSegment(name, text), literal: false }
    })
}

/** Returns the value if it remains a single path segment however often it is decoded. Throws 400 otherwise. */
function checkPathSegment(parameter: string, value: string): string {
  const problems = value === '' ? ['must be provided'] : pathSegmentErrors(value)
  if (problems.length === 0) return value
  const name = `${parameter.charAt(0).toUpperCase()}${parameter.slice(1)}`
  throw badRequest(`${name} parameter invalid: ${formatValue(value)}: ${problems.join(';')}`)
}

/**
 * Parses /api/VERSION/… and /apis/GROUP/VERSION/…. Returns undefined unless the template itself spells out group,
 * version and resource.
 */
function resourceSteps([root, ...steps]: Step[]) {
  if (root?.text !== 'api' && root?.text !== 'apis') return undefined
  const [group, version] =
    root.text === 'api' ? [{ text: '', literal: true }, steps.shift()] : [steps.shift(), steps.shift()]
  let namespace = ''
  if (steps[0]?.text === 'namespaces' && steps[1] !== undefined) {
    namespace = steps[1].text
    if (steps.length > 2) steps.splice(0, 2)
  }
  const [resource, ...rest] = steps
  if (!group?.literal || !version?.literal || !resource?.literal) return undefined
  return { group: group.text, resource: resource.text, namespace, rest: rest.map(({ text }) => text) }
}

function verbOf(request: RoutedRequest, name: string): string {
  const row = VERBS.find(({ method }) => method === request.httpMethod)
  if (row === undefined) return request.httpMethod.toLowerCase()
  if (name !== '') return row.named
  const [watch] = query(request, 'watch')
  return watch !== undefined && parseQueryFlag(watch) ? row.watching : row.unnamed
}

/**
 * Returns X when a single field selector requires `metadata.name=X` and no other name, else ''. Selectors with escapes are
 * ignored, and the handler explains malformed ones.
 */
function selectedName(request: RoutedRequest): string {
  const [selector = '', ...more] = query(request, 'fieldSelector')
  if (more.length > 0 || selector.includes('\\')) return ''
  try {
    const names = new Set(requiredValues(parseFieldSelector(selector), 'metadata.name'))
    const [name = ''] = names
    return names.size === 1 && pathSegmentErrors(name).length === 0 ? name : ''
  } catch (error) {
    if (error instanceof StatusError) return ''
    throw error
  }
}

function query({ multiValueQueryStringParameters: all }: RoutedRequest, name: string): readonly string[] {
  return (all && Object.hasOwn(all, name) && all[name]) || []
}
