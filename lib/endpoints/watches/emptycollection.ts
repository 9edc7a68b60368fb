/**
 * Serves lists and watches of resources that never have objects: custom resource definitions. Clients such
 * as kopf and Argo CD watch these resources before they start.
 */
import { stringify } from '../../meta/encoding/json.ts'
import { groupVersion } from '../../meta/groupversion.ts'
import type { JsonObject } from '../../meta/types.ts'
import type { KindInfo } from '../../registry/kind.ts'
import type { EndpointServices, OpenWatch } from '../call.ts'
import { type ListOptions, listOptions } from '../lists/listoptions.ts'
import { parseRevision } from '../lists/selection.ts'
import { negotiate } from '../negotiation/accept.ts'
import type { ApiRequest, ApiResponse } from '../request.ts'
import { respond } from '../respond.ts'
import { bookmarkMs, watchEnd } from './times.ts'
import { getsNoEvents, withoutEvents } from './withoutevents.ts'

/** The resourceVersion of every list. The collection never changes. */
const resourceVersion = '1'

type WatchServices = Pick<EndpointServices, 'sleep' | 'elapsed' | 'openWatch' | 'watchLimits'>

/** Returns the response to a GET of the collection. Throws 400, 406 and 422 like other lists and watches. */
export async function emptyCollection(
  request: ApiRequest,
  resource: Pick<KindInfo, 'group' | 'version' | 'kind'>,
  services: WatchServices,
): Promise<ApiResponse> {
  const { kind } = resource
  const apiVersion = groupVersion(resource)
  const options = listOptions(request.query, true)
  const { watch } = options
  const output = negotiate(request, { watch, transformable: false })
  parseRevision(options.resourceVersion)
  if (!watch) return respond(200, { kind: `${kind}List`, apiVersion, metadata: { resourceVersion }, items: [] }, output)
  if (getsNoEvents(request)) return withoutEvents
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    warnings: [],
    body: silence({ apiVersion, kind }, options, services, await services.openWatch(request)),
    immediate: true,
  }
}

/**
 * Yields the events of a watch: only bookmarks. The watch shows no objects, so it does not recheck its key. It lasts as long
 * as other watches, because clients start a new one as soon as it ends.
 */
async function* silence(
  resource: { apiVersion: string; kind: string },
  options: ListOptions,
  { sleep, elapsed, watchLimits }: WatchServices,
  watch: OpenWatch,
): AsyncGenerator<string> {
  const { allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options
  const bookmark = (annotations?: JsonObject): string => {
    const metadata = { resourceVersion, ...(annotations && { annotations }) }
    return `${stringify({ type: 'BOOKMARK', object: { ...resource, metadata } })}\n`
  }
  try {
    if (allowWatchBookmarks) yield bookmark(sendInitialEvents ? { 'k8s.io/initial-events-end': 'true' } : undefined)
    const began = elapsed()
    const end = watchEnd(watchLimits, timeoutSeconds, began)(began)
    // Timers may fire up to a millisecond early.
    for (let left = end - began; left >= 1; left = end - elapsed()) {
      await sleep(Math.min(bookmarkMs, left))
      await watch.keep()
      if (allowWatchBookmarks) yield bookmark()
    }
  } finally {
    await watch.close()
  }
}
