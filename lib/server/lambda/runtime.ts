/** Makes the handlers that Lambda calls. It is the sole importer of middy. */
import middy from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { LambdaResponse } from './lambdaevents.ts'

// biome-ignore lint/suspicious/noExplicitAny: the types of middy's modes and of Lambda's streams do not meet.
export type LambdaHandler = any

/** Returns the handler. One that streams must return bytes as a stream: see `compressBody`. */
export const lambdaHandler = (
  invoke: (event: APIGatewayProxyEvent) => Promise<LambdaResponse>,
  { streams }: { streams: boolean },
): LambdaHandler => middy(streams ? { executionMode: executionModeStreamifyResponse } : {}).handler(invoke as never)
