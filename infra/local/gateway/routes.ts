/** Finds the API and the route of a request as API Gateway does for REST APIs. */
import { withoutTrailingSlashes } from '../../../lib/engine/meta/value/slashes.ts'

export interface Route {
  /** API Gateway's notation: `/a/{name}/{proxy+}`. */
  resource: string
  /** Upper case, or ANY. */
  method: string
  functionId: string
  streaming: boolean
  timeoutMilliseconds: number
  /** ID of the authorizer; undefined for a public route. */
  authorizerFunctionId?: string
}

/** How clients reach the API: a host of execute-api and the stage, or a custom domain and its base path mapping ('' = none). */
export type Address = { stage: string } | { mapping: string }

/** The paths of a request that reached the API. */
export interface Located {
  /** What the routes are matched with, and the authorizer's `methodArn` ends with. */
  routed: string
  /** `path` of the event. */
  shown: string
}

/** The segment below which the API is served, such as `/prod`, or '' at the root of a custom domain. */
export function prefixOf(address: Address): string {
  const segment = 'stage' in address ? address.stage : address.mapping
  return segment === '' ? '' : `/${segment}`
}

/**
 * Returns undefined where API Gateway finds no API and responds with 403 Forbidden. `path` is raw, without the query.
 * `event.path` lacks the stage, but not the base path of a custom domain: github.com/localstack/localstack/pull/12296 lists
 * the variants as recorded on AWS.
 */
export function locate(path: string, address: Address): Located | undefined {
  const prefix = prefixOf(address)
  if (path !== prefix && !path.startsWith(`${prefix}/`)) return undefined
  const routed = path.slice(prefix.length) || '/'
  return { routed, shown: 'stage' in address ? routed : path }
}

export interface Match {
  route: Route
  /** Raw values: a REST API does not percent-decode path parameters. */
  pathParameters: Record<string, string>
}

/** Returns undefined where API Gateway responds with MISSING_AUTHENTICATION_TOKEN. `path` is raw, without the query. */
export type Router = (method: string, path: string) => Match | undefined

interface Node {
  fixed: Map<string, Node>
  /** `{name}`: API Gateway allows one per node. */
  variable?: { name: string; node: Node }
  /** `{name+}` */
  greedy?: { name: string; node: Node }
  methods: Map<string, Route>
}

const emptyNode = (): Node => ({ fixed: new Map(), methods: new Map() })

/** Prefers a fixed segment to a variable, and a variable to a greedy one. A node without the method yields to the next. */
export function createRouter(routes: readonly Route[]): Router {
  const root = emptyNode()
  for (const route of routes) nodeOf(root, segmentsOf(route.resource)).methods.set(route.method, route)
  return (method, path) => find(root, segmentsOf(path), 0, method, {})
}

/** Ignores trailing slashes but keeps empty segments in between. */
function segmentsOf(path: string): string[] {
  const trimmed = withoutTrailingSlashes(path)
  return trimmed === '' ? [] : trimmed.slice(1).split('/')
}

function nodeOf(root: Node, segments: readonly string[]): Node {
  let node = root
  for (const segment of segments) {
    const [, name, plus] = /^\{([^}+]+)(\+?)\}$/.exec(segment) ?? []
    if (name === undefined) {
      const next = node.fixed.get(segment) ?? emptyNode()
      node.fixed.set(segment, next)
      node = next
    } else {
      const kind = plus ? 'greedy' : 'variable'
      const child = node[kind] ?? { name, node: emptyNode() }
      if (child.name !== name) throw new TypeError(`two sibling variables: ${child.name} and ${name}`)
      node[kind] = child
      node = child.node
    }
  }
  return node
}

function find(
  node: Node,
  segments: readonly string[],
  at: number,
  method: string,
  pathParameters: Record<string, string>,
): Match | undefined {
  const segment = segments[at]
  if (segment === undefined) {
    const route = node.methods.get(method) ?? node.methods.get('ANY')
    return route && { route, pathParameters }
  }
  const fixed = node.fixed.get(segment)
  const found = fixed && find(fixed, segments, at + 1, method, pathParameters)
  if (found) return found
  const { variable, greedy } = node
  if (variable && segment !== '') {
    const one = find(variable.node, segments, at + 1, method, { ...pathParameters, [variable.name]: segment })
    if (one) return one
  }
  if (greedy === undefined) return undefined
  const rest = segments.slice(at).join('/')
  return find(greedy.node, segments, segments.length, method, { ...pathParameters, [greedy.name]: rest })
}
