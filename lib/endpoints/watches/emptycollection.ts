/**
 * Lists and watches of a resource that has no objects, ever: namespaces and custom resource definitions. Clients that
 * discover a resource often watch it before they start (kopf, Argo CD).
 */
import { stringify } from '../../meta/encoding/json.ts'
import type { JsonObject } from '../../meta/types.ts'
import type { EndpointServices, OpenWatch } from '../call.ts'
import { revisionOf } from '../lists/selection.ts'
import { negotiate } from '../negotiation/accept.ts'
import { type ListOptions, listOptions } from '../options.ts'
import type { ApiRequest, ApiResponse } from '../request.ts'
import { respond } from '../respond.ts'
import { heartbeatMs, watchMs } from './times.ts'
import { asksForWebSocket, noWebSocket } from './websocket.ts'

/** What the objects would be. */
export interface EmptyResource {
  apiVersion: string
  kind: string
}

/** The version of every list: nothing changes. */
const resourceVersion = '1'

type Services = Pick<EndpointServices, 'sleep' | 'elapsed' | 'openWatch'>

/** Returns the answer to a GET of the collection. Throws 400, 406 and 422 as lists and watches do. */
export async function emptyCollection(
  request: ApiRequest,
  { apiVersion, kind }: EmptyResource,
  services: Services,
): Promise<ApiResponse> {
  const options = listOptions(request.query, true)
  const { watch } = options
  const output = negotiate(request, { watch, transformable: false })
  revisionOf(options.resourceVersion)
  if (!watch) return respond(200, { kind: `${kind}List`, apiVersion, metadata: { resourceVersion }, items: [] }, output)
  if (asksForWebSocket(request)) return noWebSocket
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    warnings: [],
    body: silence({ apiVersion, kind }, options, services, await services.openWatch(request)),
    immediate: true,
  }
}

/**
 * The events of a watch: bookmarks alone. It shows nothing, so it does not ask again whether its key still lives. It lasts
 * as long as other watches, because clients watch again as soon as one ends.
 */
async function* silence(
  resource: EmptyResource,
  options: ListOptions,
  { sleep, elapsed }: Services,
  watch: OpenWatch,
): AsyncGenerator<string> {
  const { allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options
  const bookmark = (annotations?: JsonObject): string => {
    const metadata = { resourceVersion, ...(annotations && { annotations }) }
    return `${stringify({ type: 'BOOKMARK', object: { ...resource, metadata } })}\n`
  }
  try {
    if (allowWatchBookmarks && sendInitialEvents) yield bookmark({ 'k8s.io/initial-events-end': 'true' })
    const end = elapsed() + watchMs(timeoutSeconds)
    // Timers may be early by less than a millisecond.
    for (let left = end - elapsed(); left >= 1; left = end - elapsed()) {
      await sleep(Math.min(heartbeatMs, left))
      await watch.keep()
      yield allowWatchBookmarks ? bookmark() : '\n'
    }
  } finally {
    await watch.close()
  }
}
