/** Invokes the exported handlers of the functions with their sample events, on a deployment for the test file. */
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, vi } from 'vitest'
import { sampleEvent } from '../../events/sample.ts'
import { createResponseStream, installRuntimeGlobal, type Metadata } from '../../infra/local/gateway/streaming.ts'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { encodeUser } from '../../lib/keys/requests/encodeuser.ts'
import { startDeployment, type TestDeployment } from './deployment.ts'
import { parsed } from './parsed.ts'
import type { Answer } from './request.ts'

/** Changes to the sample event. */
export interface Invocation {
  /** The user; by default that of the event (alice, system:masters). */
  user?: UserInfo
  /** The whole authorizer context, instead of a user. */
  authorizer?: Record<string, string>
  /** Objects are sent as JSON, text and bytes unchanged; null sends no body. */
  body?: unknown
  /** Replaces the query of the event. */
  query?: Record<string, string | string[]>
  /** Override headers of the event. */
  headers?: Record<string, string>
  /** Override path parameters of the event. */
  parameters?: Record<string, string>
  /** Uses the route of the status subresource. */
  subresource?: 'status'
  /** Replaces that of the event. */
  method?: string
  path?: string
  resource?: string
  /** When the gateway received the request, Unix ms; now by default. */
  received?: number
}

export interface Functions extends TestDeployment {
  /** Invokes functions/NAME.ts with its sample event. */
  invoke(name: string, invocation?: Invocation): Promise<Answer>
  /** Returns the result of functions/NAME.ts for its sample event after `change`, for events other than client requests. */
  run(name: string, change?: (event: Json) => Json): Promise<Json>
}

// biome-ignore lint/suspicious/noExplicitAny: events and results are JSON of every shape.
export type Json = any

/** Provides a deployment for all tests of a file. */
export function useFunctions(
  settings: Record<string, string> = {},
): Pick<Functions, 'invoke' | 'run'> & { get(): Functions } {
  let functions: Functions
  beforeAll(async () => {
    functions = await startFunctions(settings)
  })
  afterAll(() => functions?.stop())
  return {
    get: () => functions,
    invoke: (name, invocation) => functions.invoke(name, invocation),
    run: (name, change) => functions.run(name, change),
  }
}

const root = join(import.meta.dirname, '../..')
/** The members of the Lambda context that the functions use. */
const context = { getRemainingTimeInMillis: () => 60_000 }
const issuer = 'https://keyplane.example.com/kubernetes/management'

/**
 * Starts a deployment and loads functions when they are first invoked. They read the environment at import, so modules that
 * an earlier test file of this process loaded are loaded anew.
 */
export async function startFunctions(settings: Record<string, string> = {}): Promise<Functions> {
  vi.resetModules()
  installRuntimeGlobal()
  const deployment = await startDeployment(issuer, settings)
  const load = async (name: string) => {
    const { handler } = await import(join(root, 'functions', `${name}.ts`))
    return { handler, event: sampleEvent(name) }
  }
  return {
    ...deployment,
    async invoke(name, invocation = {}) {
      const { handler, event: given } = await load(name)
      const event = changeEvent(given, invocation)
      return name.endsWith('/list') || name === 'openapi'
        ? collectStream(handler, event)
        : answerOf(await handler(event, context))
    },
    async run(name, change = (event) => event) {
      const { handler, event } = await load(name)
      return handler(change(event), context)
    },
  }
}

/** Returns the authorizer context of a user. */
const userContext = (user: UserInfo): Record<string, string> => ({
  ...encodeUser(user),
  principalId: user.name,
})

const lists = (values: Record<string, string | string[]>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value].flat()]))

function changeEvent(
  event: Json,
  {
    user,
    authorizer,
    body,
    query,
    headers = {},
    parameters,
    subresource,
    method,
    path,
    resource,
    received = Date.now(),
  }: Invocation,
) {
  const all = { ...event.headers }
  for (const [name, value] of Object.entries(headers)) {
    for (const known of Object.keys(all)) if (known.toLowerCase() === name.toLowerCase()) delete all[known]
    all[name] = value
  }
  const many = query && lists(query)
  const more = authorizer ?? (user && userContext(user))
  return {
    ...event,
    headers: all,
    multiValueHeaders: lists(all),
    ...(parameters && { pathParameters: { ...event.pathParameters, ...parameters } }),
    ...(method && { httpMethod: method }),
    ...(path && { path }),
    ...(resource && { resource }),
    ...(subresource && { resource: `${event.resource}/${subresource}`, path: `${event.path}/${subresource}` }),
    ...(many && {
      multiValueQueryStringParameters: many,
      queryStringParameters: Object.fromEntries(Object.entries(many).map(([name, values]) => [name, values.at(-1)])),
    }),
    ...(body instanceof Uint8Array
      ? { isBase64Encoded: true, body: Buffer.from(body).toString('base64') }
      : body !== undefined && {
          isBase64Encoded: false,
          body: body === null || typeof body === 'string' ? body : JSON.stringify(body),
        }),
    requestContext: { ...event.requestContext, requestTimeEpoch: received, ...(more && { authorizer: more }) },
  }
}

interface Buffered {
  statusCode: number
  headers: Record<string, string>
  multiValueHeaders: Record<string, string[]>
  body: string
}

function answerOf({ statusCode, headers, multiValueHeaders, body }: Buffered): Answer {
  return { status: statusCode, headers: { ...headers, ...multiValueHeaders }, text: body, json: parsed(body) }
}

async function collectStream(
  handler: (event: unknown, stream: unknown, context: object) => Promise<unknown>,
  event: unknown,
): Promise<Answer> {
  const body = new PassThrough()
  let metadata: Metadata = {}
  const chunks: Buffer[] = []
  body.on('data', (chunk: Buffer) => chunks.push(chunk))
  const stream = createResponseStream((received) => {
    metadata = received
    return body
  })
  await handler(event, stream, context)
  const { statusCode = 200, headers = {}, multiValueHeaders = {} } = metadata
  return answerOf({ statusCode, headers, multiValueHeaders, body: Buffer.concat(chunks).toString() })
}
