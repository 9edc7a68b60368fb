/**
 * Runs a function in its own process: imports the handler in `_HANDLER` below `LAMBDA_TASK_ROOT`, and answers the invocations
 * of the Runtime API until it is killed. It loads nothing else.
 */
import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { createResponseStream, installRuntimeGlobal, streamingHandler } from '../../infra/local/gateway/streaming.ts'
import { cpuHeader } from './runtimeapi.ts'

const { AWS_LAMBDA_RUNTIME_API = '', LAMBDA_TASK_ROOT = '', _HANDLER = '' } = process.env

function cpu(): string {
  const { user, system } = process.cpuUsage()
  return String((user + system) / 1000)
}

function ask(path: string, options: RequestOptions = {}) {
  const [host, port] = AWS_LAMBDA_RUNTIME_API.split(':')
  return request({ host, port, path: `/2018-06-01/runtime/${path}`, ...options })
}

async function post(path: string, body: string): Promise<void> {
  const headers = { [cpuHeader]: cpu(), 'Content-Type': 'application/json' }
  await once(ask(path, { method: 'POST', headers }).end(body), 'response')
}

const errorText = (error: unknown): string => JSON.stringify({ errorMessage: String(error), errorType: 'Error' })

async function handlerNamed(name: string) {
  const dot = name.lastIndexOf('.')
  const module = await import(`${LAMBDA_TASK_ROOT}/${name.slice(0, dot)}.mjs`)
  return module[name.slice(dot + 1)]
}

/** Sends the stream as it arrives, followed by its CPU time. */
async function answerStreaming(
  handler: (...args: unknown[]) => Promise<unknown>,
  event: unknown,
  context: { awsRequestId: string },
) {
  const headers = {
    'Content-Type': 'application/vnd.awslambda.http-integration-response',
    'Lambda-Runtime-Function-Response-Mode': 'streaming',
    Trailer: cpuHeader,
  }
  const answer = ask(`invocation/${context.awsRequestId}/response`, { method: 'POST', headers })
  const answered = once(answer, 'response')
  const end = answer.end.bind(answer)
  answer.end = ((...rest: never[]) => {
    answer.addTrailers({ [cpuHeader]: cpu() })
    return end(...rest)
  }) as typeof answer.end
  await handler(
    event,
    createResponseStream(() => answer),
    context,
  )
  await answered
}

installRuntimeGlobal()
const handler = await handlerNamed(_HANDLER).catch(async (error: unknown) => {
  await post('init/error', errorText(error))
  process.exit(1)
})
for (;;) {
  const next = ask('invocation/next', { headers: { [cpuHeader]: cpu() } }).end()
  const [invocation] = (await once(next, 'response')) as [IncomingMessage]
  const event: unknown = JSON.parse(await text(invocation))
  const deadline = Number(invocation.headers['lambda-runtime-deadline-ms'])
  const context = {
    awsRequestId: String(invocation.headers['lambda-runtime-aws-request-id']),
    functionName: 'bench',
    invokedFunctionArn: invocation.headers['lambda-runtime-invoked-function-arn'],
    getRemainingTimeInMillis: () => deadline - Date.now(),
  }
  try {
    if (handler[streamingHandler]) await answerStreaming(handler, event, context)
    else
      await post(`invocation/${context.awsRequestId}/response`, JSON.stringify((await handler(event, context)) ?? null))
  } catch (error) {
    await post(`invocation/${context.awsRequestId}/error`, errorText(error))
  }
}
