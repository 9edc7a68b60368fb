/** Provides servers of their own to tests whose table fails, as the test says. */
import { afterAll, afterEach, beforeAll } from 'vitest'
import { applyEnvironment } from '../../infra/local/gateway/environment.ts'
import { type BadNetwork, startBadNetwork } from './badnetwork.ts'
import { startDynamoDB, type TestDynamoDB } from './dynamodb.ts'
import { startServer, type TestServer } from './server.ts'
import { later } from './sharedserver.ts'

/**
 * Starts a server for the tests of a file. Its calls of the table pass a network that fails as `network.weather` says, until the
 * end of each test. `dynamodb` is a connection without faults.
 */
export function useBadNetwork(
  random: () => number,
  settings: Record<string, string> = {},
): { server: TestServer; network: BadNetwork; dynamodb: TestDynamoDB; clear(): void } {
  const started = new AsyncDisposableStack()
  let parts: { server: TestServer; network: BadNetwork; dynamodb: TestDynamoDB } | undefined
  beforeAll(async () => {
    const dynamodb = started.adopt(await startDynamoDB(), (one) => one.stop())
    const network = started.adopt(await startBadNetwork(dynamodb.endpoint, random), (one) => one.stop())
    started.defer(applyEnvironment({ AWS_ENDPOINT_URL_DYNAMODB: network.endpoint }))
    const server = await startServer(settings, { unscheduled: true })
    started.adopt(server, (one) => one.stop())
    parts = { server, network, dynamodb }
  })
  const network = later(() => parts?.network)
  const clear = () => {
    network.weather = { share: 0, faults: [] }
  }
  afterEach(clear)
  afterAll(() => started.disposeAsync())
  return { server: later(() => parts?.server), network, dynamodb: later(() => parts?.dynamodb), clear }
}
