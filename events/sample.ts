/** Makes the sample event of each function: of the requests from the table of functions, of the others from the files beside this one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DeployedFunction, functions } from '../infra/functions.ts'
import type { RequestEvent } from '../infra/local/gateway/events.ts'
import { encodeUser } from '../lib/keys/requests/encodeuser.ts'
import { requests, SAMPLE_KEY, type SampleRequest } from './requests.ts'

const HOST = 'a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com'
const SOURCE = '203.0.113.7'
const STAGE = 'dev'

/** What the authorizer passes on: an administrator. */
const authorizer = {
  ...encodeUser({
    name: 'alice',
    identity: 'user:alice',
    groups: ['system:masters', 'system:authenticated'],
    key: { name: 'alice-laptop', uid: '0b9c8f0e-7d0a-4b8b-9a55-2f6a1f1c3c11', type: 'User', user: 'alice' },
    chain: [],
  }),
  principalId: 'alice',
  integrationLatency: 12,
}

/**
 * Returns a new copy of the event of the function `functions/NAME.ts`. A function with routes gets a request as API Gateway sends
 * it. Throws an Error if there is no such function.
 */
// biome-ignore lint/suspicious/noExplicitAny: events are JSON of every shape.
export function sampleEvent(name: string): any {
  const row = functions.find(({ path }) => path === name)
  if (row === undefined) throw new Error(`there is no function ${name}`)
  const request = requests.get(name)
  return request === undefined
    ? JSON.parse(readFileSync(join(import.meta.dirname, `${name}.json`), 'utf8'))
    : requestEvent(row, request)
}

function requestEvent({ path: name, routes }: DeployedFunction, request: SampleRequest): RequestEvent {
  const { at = '', parameters = {}, query, accept = 'application/json', body } = request
  const { userAgent = 'kubectl/v1.34.4 (linux/amd64) kubernetes/c34d4a4', contentType = 'application/json' } = request
  const route = routes.find(({ path }) => path.endsWith(at))
  if (route === undefined) throw new Error(`no route of ${name} ends with ${at}`)
  const { path: resource, open } = route
  const httpMethod = route.method === 'ANY' ? 'GET' : route.method
  const pathParameters: Record<string, string> = {}
  const path = resource.replace(/\{(\w+)\+?\}/g, (_, parameter: string) => {
    const value = parameters[parameter]
    if (value === undefined) throw new Error(`the request of ${name} has no ${parameter}`)
    pathParameters[parameter] = value
    return value
  })
  const headers = {
    Accept: accept,
    'Accept-Encoding': 'gzip',
    ...(!open && { Authorization: `Bearer ${SAMPLE_KEY}` }),
    ...(body !== undefined && { 'Content-Type': contentType }),
    Host: HOST,
    'User-Agent': userAgent,
    'X-Amzn-Trace-Id': 'Root=1-6b01a2c8-3f2a5b6c7d8e9f0a1b2c3d4e',
    'X-Forwarded-For': SOURCE,
    'X-Forwarded-Port': '443',
    'X-Forwarded-Proto': 'https',
  }
  return {
    resource,
    path,
    httpMethod,
    headers,
    multiValueHeaders: lists(headers),
    queryStringParameters: query ? { ...query } : null,
    multiValueQueryStringParameters: query ? lists(query) : null,
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: HOST.split('.')[0],
      ...(!open && { authorizer: { ...authorizer } }),
      domainName: HOST,
      domainPrefix: HOST.split('.')[0],
      deploymentId: 'x7y8z9',
      extendedRequestId: 'VGhpc0lzRmFrZT0=',
      httpMethod,
      identity: {
        accessKey: null,
        accountId: null,
        caller: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        sourceIp: SOURCE,
        user: null,
        userAgent,
        userArn: null,
      },
      path: `/${STAGE}${path}`,
      protocol: 'HTTP/1.1',
      requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
      requestTime: '21/Nov/2026:12:00:00 +0000',
      requestTimeEpoch: Date.UTC(2026, 10, 21, 12),
      resourceId: 'r4s5t6',
      resourcePath: resource,
      stage: STAGE,
    },
    ...bodyOf(body),
  }
}

function bodyOf(body: SampleRequest['body']): Pick<RequestEvent, 'body' | 'isBase64Encoded'> {
  if (body instanceof Buffer) return { body: body.toString('base64'), isBase64Encoded: true }
  const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? null)
  return { body: text, isBase64Encoded: false }
}

const lists = (values: Readonly<Record<string, string>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]))
