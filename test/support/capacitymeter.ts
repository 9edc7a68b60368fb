/** Forwards calls to DynamoDB and counts the capacity units that they consume. */

import { createServer, type IncomingMessage } from 'node:http'
import { listening } from './listening.ts'

export interface Taken {
  calls: number
  reads: number
  writes: number
}

export interface CapacityMeter {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  endpoint: string
  /** All calls so far. */
  taken: Readonly<Taken>
  close(): void
}

export async function startCapacityMeter(upstream: string): Promise<CapacityMeter> {
  const taken: Taken = { calls: 0, reads: 0, writes: 0 }
  const forwarding = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? ''
    const body = { ...JSON.parse(await textOf(request)), ReturnConsumedCapacity: 'TOTAL' }
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers
    const answer = await fetch(upstream, { method: 'POST', headers: headers as never, body: JSON.stringify(body) })
    const text = await answer.text()
    taken.calls++
    const consumed = [JSON.parse(text).ConsumedCapacity ?? []].flat()
    const units = consumed.reduce((sum: number, { CapacityUnits }: { CapacityUnits: number }) => sum + CapacityUnits, 0)
    taken[/^(Get|BatchGet|Query)/.test(operation) ? 'reads' : 'writes'] += units
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(text)
  })
  const { url } = await listening(forwarding)
  return { endpoint: url, taken, close: () => void forwarding.close() }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
