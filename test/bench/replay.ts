/**
 * Stands in front of DynamoDB. It records what the table answers to a request of the API, and then answers the same, so that the CPU
 * of a function can be measured without that of the table.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

interface Recorded {
  status: number
  body: Buffer
}

export interface Replay {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  endpoint: string
  /** Passes calls on, and records their answers. */
  record(): void
  /** Answers the nth call of an operation on some partitions as the nth recorded one; after the last one follows the first. */
  repeat(): void
  close(): void
}

/** Returns the kinds of partitions that a call names, because calls at the same time arrive in any order. */
const partitionsIn = (body: string): string =>
  [...body.matchAll(/"S":"([a-z]+#[a-z]*)/g)].map(([, name]) => name).join(' ')

export async function startReplay(upstream: string): Promise<Replay> {
  const answers = new Map<string, Recorded[]>()
  const asked = new Map<string, number>()
  let isRecording = true

  async function pass(call: string, { headers }: IncomingMessage, body: Buffer): Promise<Recorded> {
    const { host: _, 'content-length': __, connection: ___, ...rest } = headers
    const answer = await fetch(upstream, {
      method: 'POST',
      headers: rest as Record<string, string>,
      body: new Uint8Array(body),
    })
    const recorded = { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) }
    answers.set(call, [...(answers.get(call) ?? []), recorded])
    return recorded
  }

  function repeated(call: string): Recorded {
    const known = answers.get(call) ?? []
    const index = asked.get(call) ?? 0
    asked.set(call, index + 1)
    const found = known[index % known.length]
    if (!found) throw new Error(`nothing was recorded for ${call}`)
    return found
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const call = `${request.headers['x-amz-target']} ${partitionsIn(body.toString())}`
    const { status, body: text } = isRecording ? await pass(call, request, body) : repeated(call)
    response
      .writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'content-length': text.length })
      .end(text)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => response.destroy(error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    record() {
      isRecording = true
      answers.clear()
    },
    repeat() {
      isRecording = false
      asked.clear()
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
