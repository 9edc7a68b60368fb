/**
 * Invokes the authorizer and the function of a request one after the other, as API Gateway does, and measures the CPU of this process.
 * Its argument is the folder of the bundles. It receives requests, and sends the figures of each.
 */
import { PassThrough } from 'node:stream'
import { createResponseStream, installRuntimeGlobal, streamingHandler } from '../../infra/local/gateway/streaming.ts'

/** A request to invoke functions for `count` times. `%NAME%` in the body becomes a name of its own each time. */
export interface Batch {
  name: string
  authorizer: Event
  event: Event
  count: number
}

/** CPU milliseconds of an invocation on average. */
export interface Figures {
  authorizer: number
  handler: number
}

interface Event {
  body?: string | null
  requestContext: Record<string, unknown>
}

type Handler = ((...args: unknown[]) => Promise<unknown>) & { [streamingHandler]?: string }

const [, , bundles = ''] = process.argv
const context = { getRemainingTimeInMillis: () => 60_000 }

const cpu = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const load = async (name: string): Promise<Handler> => (await import(`${bundles}/functions/${name}.mjs`)).handler

/** Returns the status of the answer. */
async function invoke(handler: Handler, event: Event): Promise<number> {
  if (!handler[streamingHandler]) return ((await handler(event, context)) as { statusCode: number }).statusCode
  const body = new PassThrough()
  body.resume()
  let status = 0
  const stream = createResponseStream(({ statusCode = 0 }) => {
    status = statusCode
    return body
  })
  await handler(event, stream, context)
  return status
}

let names = 0

async function run({ name, authorizer, event, count }: Batch): Promise<Figures> {
  const [authorize, handler] = await Promise.all([load('authorizer'), load(name)])
  const spent = { authorizer: 0, handler: 0 }
  for (let turn = 0; turn < count; turn++) {
    const requestTimeEpoch = Date.now()
    const body = event.body?.replace('%NAME%', `bench-${process.pid}-${names++}`) ?? null
    const began = cpu()
    const decided = (await authorize(
      { ...authorizer, requestContext: { ...authorizer.requestContext, requestTimeEpoch } },
      context,
    )) as {
      context: object
    }
    const between = cpu()
    const requestContext = { ...event.requestContext, requestTimeEpoch, authorizer: decided.context }
    const status = await invoke(handler, { ...event, body, requestContext })
    if (status >= 300) throw new Error(`${name} answered ${status}`)
    spent.authorizer += between - began
    spent.handler += cpu() - between
  }
  return { authorizer: spent.authorizer / count, handler: spent.handler / count }
}

installRuntimeGlobal()
process.stdout.write = (() => true) as typeof process.stdout.write
process.on('message', (batch: Batch) => {
  run(batch).then(
    (figures) => process.send?.(figures),
    (error: Error) => process.send?.({ error: error.stack }),
  )
})
