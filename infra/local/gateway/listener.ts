/** Handles one request as API Gateway does: route, authorizer, integration, response. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { withTimeout } from '../../../lib/server/lambda/timeout.ts'
import { lazy } from '../../../lib/server/process/lazy.ts'
import { beginAnswer, writeAnswer, writeRendered } from './answers.ts'
import { authorize } from './authorize.ts'
import type { Deployment } from './deployment.ts'
import { requestContext, requestEvent } from './events.ts'
import { EventTooLarge, FunctionThrottled, type Lambda } from './lambda.ts'
import type { Answered } from './requestlines.ts'
import { FORBIDDEN, type ResponseType, renderResponse } from './responses.ts'
import type { Route } from './routes.ts'
import { type Address, createRouter, locate } from './routes.ts'
import { createResponseStream } from './streaming.ts'
import { createThrottle } from './throttle.ts'

export interface Listener {
  listener(request: IncomingMessage, response: ServerResponse): void
  /** Requests whose functions are still running. */
  running: ReadonlySet<Promise<void>>
  /** Ends the streamed responses; their functions find the stream destroyed. */
  endStreams(): void
}

/** "Payload size: 10 MB": Amazon API Gateway quotas. */
const maximumBody = 10 * 1024 * 1024

export interface ListenerOptions {
  /** By default the root of a custom domain. */
  address?: Address
  /** Called for failures that the client does not see. */
  report(message: string, cause: unknown): void
  /** Called for every request when its response starts. */
  answered?: ((answered: Answered) => void) | undefined
  /** Resolves when the limits of the deployment begin to apply; by default at once. */
  limitedFrom?: Promise<void> | undefined
}

export function createListener(
  { api, responses, routes }: Deployment,
  lambda: Lambda,
  { address = { mapping: '' }, report, answered = () => {}, limitedFrom }: ListenerOptions,
): Listener {
  const find = createRouter(routes)
  const throttled = () => createThrottle(api.throttle, () => performance.now(), api.methodThrottles)
  let throttle = limitedFrom ? createThrottle(undefined, () => performance.now()) : throttled()
  limitedFrom?.then(() => {
    throttle = throttled()
  })
  const running = new Set<Promise<void>>()
  const streams = new Set<() => void>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path, search } = splitTarget(request.url ?? '/')
    const context = requestContext(request, path, api)
    response.setHeader('x-amzn-RequestId', String(context.requestId))
    let authorizer: Answered['authorizer']
    const refuse = (type: ResponseType, passed: object = authorizer ?? {}): void => {
      const rendered = () => renderResponse(type, responses, { ...context, authorizer: passed })
      if (response.headersSent) response.destroy()
      else if (!response.destroyed) writeRendered(response, rendered(), api)
    }
    let done = () => {}
    const begin = performance.now()
    const tell = lazy(() => {
      const { method = '' } = request
      const status = response.headersSent ? response.statusCode : 0
      answered({ method, path, status, milliseconds: performance.now() - begin, authorizer })
    })
    try {
      const body = await readBody(request)
      const located = locate(path, address)
      if (located === undefined) return writeRendered(response, FORBIDDEN, api)
      const match = find(request.method ?? '', located.routed)
      const admitted = await throttle.admit(match && `${match.route.method} ${match.route.resource}`, (leave) =>
        response.once('close', leave),
      )
      if (admitted === undefined) return refuse('THROTTLED')
      done = admitted
      if (response.destroyed) return
      if (body === undefined) return refuse('REQUEST_TOO_LARGE')
      if (match === undefined) return refuse('MISSING_AUTHENTICATION_TOKEN')
      // On a slow machine, the import alone could exceed the limits of the request, which begin with the event.
      await lambda.warm(match.route.functionId)
      if (response.destroyed) return
      const event = requestEvent(request, { path: located.shown, search, body }, match, context, api.binaryMediaTypes)
      const { authorizerFunctionId } = match.route
      if (authorizerFunctionId !== undefined) {
        const arn = `arn:aws:execute-api:${api.region}:${api.account}:${api.id}/${api.stage}/${request.method}${located.routed}`
        const authorization = await authorize(lambda, authorizerFunctionId, event, arn)
        if (!authorization.allowed) {
          if (authorization.cause !== undefined) report('the authorizer failed', authorization.cause)
          return refuse(authorization.type, authorization.authorizer)
        }
        authorizer = authorization.authorizer
        event.requestContext.authorizer = authorizer
      }
      const begun = () => {
        done()
        tell()
      }
      if (match.route.streaming) await stream(match.route, event, response, begun)
      else await buffer(match.route, event, request, response)
    } catch (error) {
      if (error instanceof EventTooLarge) return refuse('REQUEST_TOO_LARGE')
      if (error instanceof FunctionThrottled) return refuse('INTEGRATION_FAILURE')
      if (error instanceof IntegrationTimeout) return refuse('INTEGRATION_TIMEOUT')
      // The client has disconnected.
      if (response.destroyed) return
      report(`${request.method} ${path} failed`, error)
      refuse('DEFAULT_5XX')
    } finally {
      tell()
      done()
    }
  }

  async function buffer(route: Route, event: unknown, request: IncomingMessage, response: ServerResponse) {
    const answer = await withTimeout(route.timeoutMilliseconds, lambda.invoke(route.functionId, event), tooLate)
    await writeAnswer(response, answer, request.headers, api)
  }

  /** `begun` frees the slot of a started stream, which mostly waits, and reports the request. */
  async function stream(route: Route, event: unknown, response: ServerResponse, begun: () => void) {
    const body = createResponseStream((metadata) => {
      beginAnswer(response, metadata, api)
      begun()
      return response
    })
    let ended = false
    const end = (reason: string) => {
      ended = !body.writableFinished
      body.destroy(new Error(reason))
    }
    const onShutdown = () => {
      end('the server shuts down')
      response.end()
    }
    response.once('close', () => end('the client has left'))
    streams.add(onShutdown)
    try {
      await withTimeout(route.timeoutMilliseconds, lambda.stream(route.functionId, event, body), tooLate)
    } catch (error) {
      if (!ended) throw error
    } finally {
      streams.delete(onShutdown)
      body.destroy()
    }
  }

  return {
    listener(request, response) {
      const served = serve(request, response).finally(() => running.delete(served))
      running.add(served)
    },
    running,
    endStreams() {
      for (const end of streams) end()
    },
  }
}

/** Thrown when the function exceeds the integration timeout. */
class IntegrationTimeout extends Error {
  override name = 'IntegrationTimeout'
}

const tooLate = () => new IntegrationTimeout()

/** Returns the raw path and query of a request target in origin or absolute form. */
function splitTarget(target: string): { path: string; search: string } {
  const origin = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const at = origin.indexOf('?')
  const path = at < 0 ? origin : origin.slice(0, at)
  return { path: path.startsWith('/') ? path : '/', search: at < 0 ? '' : origin.slice(at + 1) }
}

/** Returns undefined for a body over API Gateway's limit. Reads it to the end: a client that still writes would miss the response. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const { 'content-length': stated, 'transfer-encoding': encoded } = request.headers
  if (stated === undefined && encoded === undefined) return Buffer.alloc(0)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= maximumBody) chunks.push(chunk)
  }
  return length <= maximumBody ? Buffer.concat(chunks) : undefined
}
