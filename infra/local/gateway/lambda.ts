/** Runs the bundled functions in this process, as Lambda's Node.js runtime runs each in its own. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { withTimeout } from '../../../lib/server/lambda/timeout.ts'
import type { Deployment, FunctionDescription } from './deployment.ts'
import { installRuntimeGlobal, streamingHandler } from './streaming.ts'

/** Thrown when a function throws (`cause`), times out, or returns a response that cannot be sent. */
export class FunctionError extends Error {
  override name = 'FunctionError'
}

/** Thrown when an event exceeds Lambda's payload limit. */
export class EventTooLarge extends Error {
  override name = 'EventTooLarge'
}

/** Thrown when a function already runs as often as its reserved concurrency allows. */
export class FunctionThrottled extends Error {
  override name = 'FunctionThrottled'
}

export interface Lambda {
  /** Imports the bundle ahead of a request, which then has all its time for its work. */
  warm(functionId: string): Promise<void>
  /** Returns the function's response after a JSON round trip. Throws FunctionError, FunctionThrottled or EventTooLarge. */
  invoke(functionId: string, event: unknown): Promise<unknown>
  /** Settles when the stream is complete or destroyed and the handler has returned. Throws like `invoke`. */
  stream(functionId: string, event: unknown, stream: Writable): Promise<void>
}

type Handler = ((...args: unknown[]) => unknown) & { [streamingHandler]?: string }

/** "Invocation payload (request and response): 6 MB each": AWS Lambda quotas. */
const maximumPayload = 6 * 1024 * 1024

/** The instances of this process. */
let instances = 0

/**
 * Every instance imports the bundles again, because they read the environment at import. `bundled` resolves when the file of a module is
 * complete.
 */
export function createLambda(
  { functions, api }: Deployment,
  bundlesDir: string,
  bundled: (module: string) => Promise<void> = async () => {},
): Lambda {
  installRuntimeGlobal()
  // A count, unlike a random name, lets Node.js find the bundles in its compile cache.
  const instance = ++instances
  const imported = new Map<string, Promise<Handler>>()
  const working = new Map<string, number>()

  const describe = (id: string): FunctionDescription => {
    const description = functions.get(id)
    if (description === undefined) throw new TypeError(`no function ${id} in the deployment`)
    return description
  }
  const load = ({ id, module }: FunctionDescription): Promise<Handler> => {
    const known = imported.get(id)
    if (known) return known
    const url = pathToFileURL(join(bundlesDir, `${module}.mjs`))
    const loading = bundled(module).then(async () => {
      const exports: Record<string, unknown> = await import(`${url.href}?instance=${instance}`)
      if (typeof exports.handler !== 'function') throw new TypeError(`${module} exports no handler`)
      return exports.handler as Handler
    })
    imported.set(id, loading)
    return loading
  }
  const contextOf = (description: FunctionDescription, deadline: number) => ({
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: true,
    functionName: description.name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${api.region}:${api.account}:function:${description.name}`,
    logGroupName: `/aws/lambda/${description.name}`,
    logStreamName: 'local',
    memoryLimitInMB: String(description.memoryMegabytes),
    getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
  })
  /** Runs `work` with the handler, limited by the function's timeout, which begins after the import as in AWS. */
  const run = async <T>(id: string, work: (handler: Handler, context: object) => Promise<T>): Promise<T> => {
    const description = describe(id)
    const { concurrency = Number.POSITIVE_INFINITY } = description
    const count = working.get(id) ?? 0
    if (count >= concurrency) throw new FunctionThrottled(`${description.name} is throttled`)
    working.set(id, count + 1)
    const milliseconds = description.timeoutSeconds * 1000
    const late = () => new FunctionError(`Task timed out after ${description.timeoutSeconds} seconds`)
    try {
      const handler = await load(description)
      const context = contextOf(description, performance.now() + milliseconds)
      return await withTimeout(milliseconds, work(handler, context), late)
    } catch (error) {
      if (error instanceof FunctionError || error instanceof EventTooLarge) throw error
      throw new FunctionError(`${description.name} failed`, { cause: error })
    } finally {
      working.set(id, (working.get(id) ?? 1) - 1)
    }
  }

  return {
    async warm(functionId) {
      await load(describe(functionId))
    },
    invoke(functionId, event) {
      const payload = encode(event)
      return run(functionId, async (handler, context) => {
        // Lambda would return the bytes of the stream with its prelude, which is not JSON.
        if (handler[streamingHandler]) throw new FunctionError('a streaming function needs a streaming route')
        const answer = JSON.stringify((await handler(JSON.parse(payload), context)) ?? null)
        if (Buffer.byteLength(answer) > maximumPayload) throw new FunctionError('Response payload size exceeded')
        return JSON.parse(answer)
      })
    },
    async stream(functionId, event, stream) {
      const payload = encode(event)
      await run(functionId, async (handler, context) => {
        if (!handler[streamingHandler]) {
          stream.end(JSON.stringify((await handler(JSON.parse(payload), context)) ?? null))
        } else {
          await handler(JSON.parse(payload), stream, context)
        }
        await finished(stream)
      })
    },
  }
}

function encode(event: unknown): string {
  const payload = JSON.stringify(event)
  if (Buffer.byteLength(payload) > maximumPayload) throw new EventTooLarge('the event is over 6 MB')
  return payload
}
