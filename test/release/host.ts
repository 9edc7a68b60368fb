/**
 * Runs the functions of one release in a process of its own. The first argument is the folder of their bundles; the environment
 * is that of the functions. Each message is one invocation, and is answered by one.
 */
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import {
  createResponseStream,
  installRuntimeGlobal,
  type Metadata,
  streamingHandler,
} from '../../infra/local/gateway/streaming.ts'

export interface Invocation {
  id: number
  /** Path of the function below functions/. */
  name: string
  event: unknown
  /** The milliseconds that are left for it. */
  remaining: number
}

export type Outcome = { id: number } & (
  | { answer: unknown }
  /** Of a streaming function. The body is base64. */
  | { metadata: Metadata; body: string }
  /** The message of the error that the function threw. */
  | { error: string }
)

type Handler = ((...args: unknown[]) => Promise<unknown>) & { [streamingHandler]?: string }

const [folder = ''] = process.argv.slice(2)
installRuntimeGlobal()

async function load(name: string): Promise<Handler> {
  const { handler } = await import(pathToFileURL(join(folder, 'functions', `${name}.mjs`)).href)
  return handler
}

async function invoke({ id, name, event, remaining }: Invocation): Promise<Outcome> {
  const handler = await load(name)
  const context = { awsRequestId: String(id), getRemainingTimeInMillis: () => remaining }
  if (!handler[streamingHandler]) return { id, answer: (await handler(event, context)) ?? null }
  let metadata: Metadata = {}
  const body = new PassThrough()
  const chunks: Buffer[] = []
  body.on('data', (chunk: Buffer) => chunks.push(chunk))
  const stream = createResponseStream((received) => {
    metadata = received
    return body
  })
  await handler(event, stream, context)
  return { id, metadata, body: Buffer.concat(chunks).toString('base64') }
}

process.on('message', (invocation: Invocation) => {
  const failed = (error: unknown) => ({
    id: invocation.id,
    error: error instanceof Error ? error.message : String(error),
  })
  void invoke(invocation)
    .catch(failed)
    .then((outcome) => process.send?.(outcome))
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
