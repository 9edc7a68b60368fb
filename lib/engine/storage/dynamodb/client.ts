/** Makes the client of the table, without the parts of the SDK that cost CPU at every request and change nothing here. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { nativeProtocol } from './protocol.ts'
import { type Patience, requestHandler } from './requesthandler.ts'
import { signerFor } from './signer.ts'

/**
 * Middleware of the SDK that every request runs. The logger copies each request and answer even without a logger. The others
 * add headers that DynamoDB ignores.
 */
const needless = ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware']

export interface TableConfig extends DynamoDBClientConfig {
  uuid(): string
  patience?: Patience
}

/** For programs that wait longer than a function may. */
const usual: Patience = { connectionTimeout: 5_000, requestTimeout: 30_000 }

/**
 * Returns a client. It composes its middleware once per operation: middleware that is added after the first request of an
 * operation has no effect on it. `uuid` makes tokens of transactions.
 */
export function connectTable({ uuid, patience = usual, ...config }: TableConfig): DynamoDBClient {
  const client = new DynamoDBClient({
    cacheMiddleware: true,
    requestHandler: requestHandler(patience),
    protocol: nativeProtocol(uuid),
    // One endpoint for all requests, which does not depend on credentials.
    accountIdEndpointMode: 'disabled',
    ...config,
  })
  const signer = signerFor(client.config.region, client.config.credentials)
  client.config.signer = async () => signer
  for (const name of needless) client.middlewareStack.remove(name)
  const resolve = client.config.endpointProvider
  let endpoint: ReturnType<typeof resolve> | undefined
  client.config.endpointProvider = (...given) => {
    endpoint ??= resolve(...given)
    return endpoint
  }
  return client
}
