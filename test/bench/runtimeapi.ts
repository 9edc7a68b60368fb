/**
 * Serves Lambda's Runtime API (docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) for one start at a time. A process
 * has started when it requests its next invocation, and its answer ends the measurement.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** The header with the CPU milliseconds of the process so far, which the runtime sends with each request. */
export const cpuHeader = 'bench-cpu-milliseconds'

export interface Asked {
  /** In the time of `performance.now()`. */
  at: number
  cpu: number
}

export interface RuntimeApi {
  /** The value of AWS_LAMBDA_RUNTIME_API. */
  address: string
  /**
   * Waits for a process to request its next invocation, calls `before`, sends this event, and waits for the answer or the
   * error of the function. Throws the error of a process that cannot start.
   */
  invocation(event: unknown, before?: () => void): Promise<{ asked: Asked; sent: number; answered: Asked }>
  close(): void
}

const prefix = '/2018-06-01/runtime'

export async function startRuntimeApi(): Promise<RuntimeApi> {
  const received = new Map<string, (exchange: readonly [IncomingMessage, ServerResponse]) => void>()
  const arrival = (step: string) =>
    new Promise<readonly [IncomingMessage, ServerResponse]>((resolve) => received.set(step, resolve))
  const server = createServer((request, response) => {
    const path = request.url?.slice(prefix.length) ?? ''
    const step = /^\/(init\/error|invocation\/next)$/.exec(path)?.[1] ?? 'answer'
    received.get(step)?.([request, response])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async invocation(event, before) {
      const failure = arrival('init/error').then(async ([request]) => {
        throw new Error(`a function cannot start: ${await text(request)}`)
      })
      const answer = arrival('answer')
      const [request, response] = await Promise.race([arrival('invocation/next'), failure])
      const asked = readMeasurement(request)
      const deadline = Date.now() + 60_000
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Lambda-Runtime-Aws-Request-Id': '8476a536-e9f4-11e8-9739-2dfe598c3fcd',
        'Lambda-Runtime-Deadline-Ms': deadline,
        'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:eu-central-1:123456789012:function:bench',
      })
      before?.()
      const sent = performance.now()
      response.end(JSON.stringify(event))
      const [given, thanks] = await answer
      await text(given)
      const answered = readMeasurement(given)
      thanks.writeHead(202).end()
      return { asked, sent, answered }
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A stream sends its CPU time at its end. */
const readMeasurement = ({ headers, trailers }: IncomingMessage): Asked => ({
  at: performance.now(),
  cpu: Number(trailers[cpuHeader] ?? headers[cpuHeader]),
})
