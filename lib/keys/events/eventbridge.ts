/** Implements the bus over Amazon EventBridge. Only this module and eventbridgeclient.ts import @aws-sdk/client-eventbridge. */
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { keepFetched } from '../../engine/outbound/fetched.ts'
import type { Bus, OpenBus } from './publish.ts'

const sdk = () => import('./eventbridgeclient.ts')

/** Returns the client for `eventBridgeBus`. The SDK retries throttling and broken connections. */
async function connectEventBridge(): Promise<EventBridgeClient> {
  const { EventBridgeClient } = await sdk()
  return new EventBridgeClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true },
  })
}

/** Returns the event bus with this name or ARN. */
export const eventBridgeBus = (name: string, connect: () => Promise<EventBridgeClient>): Bus => ({
  async put(entries) {
    const { PutEventsCommand } = await sdk()
    const client = await connect()
    const command = new PutEventsCommand({
      Entries: entries.map(({ source, detailType, detail }) => ({
        Source: source,
        DetailType: detailType,
        Detail: detail,
        EventBusName: name,
      })),
    })
    const { Entries = [] } = await client.send(command).catch((error: unknown) => {
      // One invalid entry makes the whole call invalid.
      if (!(error instanceof Error) || error.name !== 'ValidationException') throw error
      return { Entries: entries.map(() => ({ EventId: undefined, ErrorCode: error.name })) }
    })
    // An entry without an id was not accepted, whether or not it has an error code.
    return entries.map((_, index) => (Entries[index]?.EventId ? undefined : (Entries[index]?.ErrorCode ?? 'NoAnswer')))
  },
})

export const openBus: OpenBus = (name) => eventBridgeBus(name, keepFetched(connectEventBridge).get)
