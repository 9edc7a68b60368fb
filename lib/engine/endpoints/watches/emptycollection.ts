/**
 * Serves lists and watches of resources that never have objects: custom resource definitions. Clients such
 * as kopf and Argo CD watch these resources before they start.
 */
import { stringify } from '../../meta/encoding/json.ts'
import { groupVersion } from '../../meta/groupversion.ts'
import type { JsonObject, KubeObject, ObjectMeta } from '../../meta/types.ts'
import type { EndpointServices, OpenWatch } from '../call.ts'
import { type ListOptions, listOptions } from '../lists/listoptions.ts'
import { parseRevision } from '../lists/selection.ts'
import { respondList } from '../lists/text.ts'
import { negotiate, transformError } from '../negotiation/accept.ts'
import type { ApiRequest, ApiResponse } from '../request.ts'
import { type Printed, respond, transformed } from '../respond.ts'
import { bookmarkMs, watchEnd } from './times.ts'
import { getsNoEvents, withoutEvents } from './withoutevents.ts'

/** The resourceVersion of every list. The collection never changes. */
const resourceVersion = '1'

type WatchServices = Pick<EndpointServices, 'sleep' | 'elapsed' | 'openWatch' | 'watchLimits'>

/** Returns the response to a GET of the collection. Throws 400, 406 and 422 like other lists and watches. */
export async function emptyCollection(
  request: ApiRequest,
  resource: Printed,
  services: WatchServices,
): Promise<ApiResponse> {
  const { kind } = resource
  const apiVersion = groupVersion(resource)
  const options = listOptions(request.query, true)
  const { watch } = options
  const output = negotiate(request, { watch })
  const { transform } = output
  parseRevision(options.resourceVersion)
  const metadata = { resourceVersion }
  if (!watch) {
    // A list of a built-in kind has no empty `continue`, unlike one of custom resources.
    if (!transform) return respond(200, { kind: `${kind}List`, apiVersion, metadata, items: [] }, output)
    return respondList({ request, kind: resource, metadata, output, pages: none() }, [])
  }
  const wrong = transform && transformError(transform.as, false)
  if (wrong) throw wrong
  if (getsNoEvents(request)) return withoutEvents
  let withColumns = true
  const form = (object: KubeObject): JsonObject => {
    if (!transform) return { ...object }
    const shown = transformed(request, resource, object, transform, { now: request.now, withColumns })
    withColumns = false
    return shown
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    warnings: [],
    body: silence((more) => form({ apiVersion, kind, metadata: { ...metadata, ...more } }), options, {
      ...services,
      watch: await services.openWatch(request),
    }),
    immediate: true,
  }
}

/** The pages of every list. */
async function* none(): AsyncGenerator<never> {}

/**
 * Yields the events of a watch: only bookmarks. The watch shows no objects, so it does not recheck its credential. It lasts as long
 * as other watches, because clients start a new one as soon as it ends.
 */
async function* silence(
  objectOf: (metadata: Pick<ObjectMeta, 'annotations'>) => JsonObject,
  options: ListOptions,
  { sleep, elapsed, watchLimits, watch }: Omit<WatchServices, 'openWatch'> & { watch: OpenWatch },
): AsyncGenerator<string> {
  const { allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options
  const bookmark = (annotations?: Record<string, string>): string =>
    `${stringify({ type: 'BOOKMARK', object: objectOf(annotations ? { annotations } : {}) })}\n`
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
