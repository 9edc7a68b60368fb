/** Serves what needs no access key: version, health, the documents of the token issuer, and for browsers the way to the console. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { belowBase, routedPath } from '../../access/attributes/requestattributes.ts'
import {
  CACHE_CONTROL,
  DISCOVERY_PATH,
  discoveryDocument,
  JWKS_PATH,
  jwksDocument,
  METADATA_PATH,
} from '../../clusters/token/jwks.ts'
import { prefersPage } from '../../engine/endpoints/negotiation/accept.ts'
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import { pageNotFound } from '../../engine/endpoints/respond.ts'
import { stringify } from '../../engine/meta/encoding/json.ts'
import type { Config } from '../process/config.ts'
import type { MinimalServer } from '../process/minimal.ts'
import { headersOf } from './lambdaevents.ts'

/** The version of Kubernetes whose API conventions this server follows. Clients compare it with their own. */
const version = {
  major: '1',
  minor: '34',
  emulationMajor: '1',
  emulationMinor: '34',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '33',
  gitVersion: 'v1.34.4+keyplane',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'aws/lambda',
}

const response = (type: string, body: string, headers: Record<string, string> = {}): ApiResponse => ({
  status: 200,
  headers: { 'content-type': type, ...headers },
  warnings: [],
  body,
})

const healthRoots = ['healthz', 'livez', 'readyz']

/** Returns `ok`, or with ?verbose the list of checks. The only check is that the function runs. */
function health(
  root: string,
  check: string | undefined,
  query: APIGatewayProxyEvent['queryStringParameters'],
): ApiResponse {
  const text = 'text/plain; charset=utf-8'
  if (check !== undefined) return check === 'ping' ? response(text, 'ok') : pageNotFound
  const verbose = query !== null && Object.hasOwn(query, 'verbose')
  return response(text, verbose ? `[+]ping ok\n${root} check passed\n` : 'ok')
}

/** Returns the response to a request that needs no access key, or undefined for all other requests. */
export async function publicAnswer(
  event: APIGatewayProxyEvent,
  server: MinimalServer,
): Promise<ApiResponse | undefined> {
  const { config } = server
  const path = belowBase(event.resource, config.basePath)
  const [root = '', parameter] = path.split('/').slice(1)
  if (path === '/version') return response('application/json', stringify(version, 2))
  if (healthRoots.includes(root)) {
    return health(root, parameter && event.pathParameters?.check, event.queryStringParameters)
  }
  const cached = { 'cache-control': CACHE_CONTROL }
  if (path === DISCOVERY_PATH || path === METADATA_PATH || path === METADATA_PATH + config.basePath) {
    const document = await discoveryDocument(config.issuer, config.apiUrl, server.signer)
    return response('application/json', stringify(document), cached)
  }
  if (path === JWKS_PATH) {
    return response('application/jwk-set+json', stringify(await jwksDocument(server.signer)), cached)
  }
  return routedPath(event, config.basePath) === '/' ? consoleAnswer(event, config) : undefined
}

/** Leads a browser at the address of the API, or at the root, to the console. Other clients get what they get at any unknown path. */
function consoleAnswer(
  event: APIGatewayProxyEvent,
  { apiUrl, basePath }: Pick<Config, 'apiUrl' | 'basePath'>,
): ApiResponse | undefined {
  if (event.httpMethod !== 'GET' || !prefersPage(headersOf(event)) || !apiUrl.endsWith(basePath)) return undefined
  const location = `${apiUrl.slice(0, -basePath.length)}/console/`
  const headers = { location, vary: 'Accept', 'cache-control': 'no-store' }
  return { ...response('text/plain; charset=utf-8', `The console is at ${location}\n`, headers), status: 302 }
}
