/** HTTP as the endpoints see it: no Lambda, no gateway. */

import type { UserInfo } from '../authorization/users/user.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import type { Fault } from '../meta/errors/status.ts'
import { resourceVersionOrNone } from '../meta/object/resourceversion.ts'

export interface ApiRequest {
  method: string
  /** Path with its base, as the client sent it: for texts only, never split. */
  path: string
  /** From the gateway's routing. '' where the route has none. */
  namespace: string
  name: string
  /** 'status' on …/status routes, else ''. */
  subresource: string
  query: ReadonlyMap<string, readonly string[]>
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  user: UserInfo
  requestId: string
  now: Date
  deadline: Deadline
}

export interface ApiResponse {
  status: number
  headers: Record<string, string>
  /** Texts of Warning headers, in order. */
  warnings: readonly string[]
  /** Bytes are for functions that stream, since API Gateway takes text from others. A stream is sent piece by piece; an error within cuts the connection. */
  body: string | Uint8Array | AsyncIterable<string>
  /** Of an error, whose failure it is; absent = what its code says. Not sent. */
  fault?: Fault
  /** Aborts when no more of the stream may be sent, not even what the client has not taken yet: it cuts the connection. */
  cut?: AbortSignal
  /** Events must leave at once, so they are never compressed. */
  immediate?: true
}

/** The first value of a query parameter, as Go's url.Values.Get gives it; undefined when absent. */
export const first = (query: ApiRequest['query'], name: string): string | undefined => query.get(name)?.[0]

/** The digits of the revision that a request asks for; undefined where it asks for none. */
export function askedRevision({ query }: ApiRequest): string | undefined {
  const version = resourceVersionOrNone(first(query, 'resourceVersion') ?? '')
  return version === 0n ? undefined : String(version)
}
