/** Defines requests and responses for the endpoints, independent of Lambda and API Gateway. */

import type { Deadline } from '../meta/errors/deadline.ts'
import type { Fault } from '../meta/errors/status.ts'
import { resourceVersionOrNone } from '../meta/object/resourceversion.ts'
import type { User } from '../registry/user.ts'

export interface ApiRequest {
  method: string
  /** The path below the base path. */
  path: string
  /** Set if the path was sent with a slash at its end, which the gateway ignores when it routes. */
  endsInSlash?: true
  /** The path parameter of the gateway's route; '' if the route has none. */
  namespace: string
  name: string
  /** 'status' on …/status routes, else ''. */
  subresource: string
  query: ReadonlyMap<string, readonly string[]>
  /** Header values by lower-case name. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  user: User
  requestId: string
  now: Date
  deadline: Deadline
}

export interface ApiResponse {
  status: number
  headers: Record<string, string>
  /** The texts of the Warning headers, in order. */
  warnings: readonly string[]
  /**
   * Only functions with streaming may return bytes, because API Gateway accepts text from others. A stream is sent in pieces;
   * an error in it cuts the connection.
   */
  body: string | Uint8Array | AsyncIterable<string>
  /** The side at fault for an error, for the metrics; absent = derived from the code. Not sent. */
  fault?: Fault
  /** Cuts the connection when it aborts. Nothing more is sent, not even buffered data. */
  cut?: AbortSignal
  /** Sends each piece at once, without compression, as events require. */
  immediate?: true
}

/**
 * A body for streamed responses without content. API Gateway or Lambda may keep the connection of an empty stream open:
 * https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/issues/95
 */
export const emptyStream = '\n'

/** Returns the first value of a query parameter, like Go's url.Values.Get, or undefined if it is absent. */
export const queryValue = (query: ApiRequest['query'], name: string): string | undefined => query.get(name)?.[0]

/** Returns the digits of the revision that a request asks for, or undefined if it asks for none. */
export function askedRevision({ query }: ApiRequest): string | undefined {
  const version = resourceVersionOrNone(queryValue(query, 'resourceVersion') ?? '')
  return version === 0n ? undefined : String(version)
}
