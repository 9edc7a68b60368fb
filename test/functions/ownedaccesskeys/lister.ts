/** Lists access keys in the requested forms, one after the other, in a process that list.memory.dynamodb.ts gives little memory. */
import process from 'node:process'
import { Writable } from 'node:stream'
import { sampleEvent } from '../../../events/sample.ts'
import { createResponseStream, installRuntimeGlobal, type Metadata } from '../../../infra/local/gateway/streaming.ts'

export interface Form {
  headers: Record<string, string>
  query: Record<string, string>
}

/** What the process is told to do. */
export interface Task {
  /** The user of all requests, as the authorizer passes it on. */
  user: string
  forms: readonly Form[]
}

export interface Listed {
  status: number | undefined
  bytes: number
}

installRuntimeGlobal()
const { handler } = await import('../../../functions/ownedaccesskeys/list.ts')
const given = sampleEvent('ownedaccesskeys/list')

async function list(user: string, { headers, query }: Form): Promise<Listed> {
  let metadata: Metadata = {}
  let bytes = 0
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      // Clients read asynchronously.
      setImmediate(done)
    },
  })
  const stream = createResponseStream((received) => {
    metadata = received
    return sink
  })
  const event = {
    ...given,
    requestContext: {
      ...given.requestContext,
      requestTimeEpoch: Date.now(),
      authorizer: { user, principalId: 'user' },
    },
    headers,
    multiValueHeaders: {},
    queryStringParameters: query,
    multiValueQueryStringParameters: {},
  }
  await handler(event, stream, { getRemainingTimeInMillis: () => 60_000 })
  return { status: metadata.statusCode, bytes }
}

process.once('message', async ({ user, forms }: Task) => {
  for (const form of forms) process.send?.(await list(user, form))
  process.disconnect()
})
