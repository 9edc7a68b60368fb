/**
 * GET of a collection with watch=true: streams the change log from a revision on, one JSON line per event.
 * Source: k8s.io/apiserver endpoints/handlers/watch.go.
 */

import { stringify } from '../../meta/encoding/json.ts'
import { expired, StatusError } from '../../meta/errors/status.ts'
import { groupVersion } from '../../meta/groupversion.ts'
import type { KubeObject, Status } from '../../meta/types.ts'
import type { KindInfo, Reader, RequestContext, StoredKind } from '../../registry/kind.ts'
import { visibilityFilter } from '../../registry/read.ts'
import { toStatusError } from '../../registry/storageerrors.ts'
import { presenterOf } from '../../registry/store.ts'
import { StorageError } from '../../storage/errors.ts'
import type { ChangeBatch, Stored } from '../../storage/interface.ts'
import type { EndpointServices, OpenWatch, StoredCall } from '../call.ts'
import { type CredentialCheck, startCredentialCheck, whileCredentialHolds } from '../credentialcheck.ts'
import type { ListOptions } from '../lists/listoptions.ts'
import { openCollection, presentPages } from '../lists/page.ts'
import { parseRevision, type Selection } from '../lists/selection.ts'
import type { Pages } from '../lists/text.ts'
import { includeObject, type Output, transformError } from '../negotiation/accept.ts'
import { type ApiResponse, askedRevision, queryValue } from '../request.ts'
import { transformed } from '../respond.ts'
import { closestMs, watchPace } from '../watches/pace.ts'
import { bookmarkMs, watchEnd } from '../watches/times.ts'
import { eventsOf, type WatchEvent } from '../watches/watchevents.ts'
import { getsNoEvents, withoutEvents } from '../watches/withoutevents.ts'

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** What a watch reads, and how it prints objects: a stored kind, or one that is derived from a stored kind. */
type WatchCall = Omit<StoredCall, 'kind'> & { readonly kind: Pick<StoredKind, 'columns' | keyof KindInfo> }

/** A watch whose request has been checked. */
interface Watch {
  readonly call: WatchCall
  readonly context: RequestContext
  readonly options: ListOptions
  readonly output: Output
  readonly view: WatchView
}

interface WatchStart {
  /** The revision that the request names, if any. */
  revision: number | undefined
  /** Whether the watch begins with the objects that exist. */
  isInitial: boolean
}

/** The objects that exist at the start, and the revision after which changes follow. */
interface Begun {
  initial: Pages
  rv: number
}

/** The objects that a watch shows. */
export interface WatchView {
  /** Reads the state at the start. */
  begin(start: WatchStart): Promise<Begun>
  /** Returns the events of the next changes. */
  events(batch: ChangeBatch): AsyncIterable<WatchEvent>
}

/** Returns the time of the events of a watch. The request's own is minutes old by then. */
function watchClock({ now }: RequestContext, { elapsed }: Pick<EndpointServices, 'elapsed'>): () => Date {
  const began = elapsed()
  return () => new Date(now.getTime() + elapsed() - began)
}

/** Writes objects as event lines in the negotiated form. Only the first Table contains its columns. */
function eventWriter({ call, context, output: { transform } }: Watch) {
  const { kind, request, services } = call
  let withColumns = true
  const now = watchClock(context, services)
  const form = (object: KubeObject): unknown => {
    if (!transform) return object
    const shown = transformed(request, kind, object, transform, { now: now(), withColumns })
    withColumns = false
    return shown
  }
  const line = (type: EventType, object: unknown): string => `${stringify({ type, object })}\n`
  return {
    change: (type: EventType, object: KubeObject): string => line(type, form(object)),
    bookmark: (rv: number, initialEventsEnd = false): string =>
      line(
        'BOOKMARK',
        form({
          kind: kind.kind,
          apiVersion: groupVersion(kind),
          metadata: {
            resourceVersion: String(rv),
            ...(initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
          },
        }),
      ),
    error: (status: Status): string => line('ERROR', status),
  }
}

/** Shows the objects of a stored kind that the selectors match. */
export function storedView(call: StoredCall, context: RequestContext, selection: Selection): WatchView {
  const { store, kind, request, services } = call
  const now = watchClock(context, services)
  const reader = (): Reader => ({ user: context.user, now: now() })
  const inNamespace = ({ object }: Stored): boolean =>
    !request.namespace || object.metadata.namespace === request.namespace
  return {
    async begin({ revision, isInitial }) {
      if (!isInitial) return { initial: [], rv: revision || (await store.storage.revision(kind.table)) }
      const start = revision ? { notOlderThan: revision } : {}
      const opening = { verb: 'watch', selection, start, limit: 0, pageSize: 0 } as const
      const { pages, rv } = await openCollection(call, context, opening)
      return { initial: presentPages(store, pages, reader()), rv }
    },
    events: eventsOf({
      selects: (stored) => inNamespace(stored) && selection.matches(stored),
      may: visibilityFilter(store, 'watch', context),
      latest: (stored) => store.storage.latest(store.kind.table, stored),
      shown: async (stored) => (await presenterOf(store, [stored.internal], reader()))(stored),
    }),
  }
}

/**
 * Answers with the stream of events, or to HEAD with its headers. Mistakes in the request are ordinary errors, before the
 * stream begins.
 */
export async function answerWatch(
  call: WatchCall,
  context: RequestContext,
  options: ListOptions,
  output: Output,
  view: WatchView,
): Promise<ApiResponse> {
  const { request, services, warnings } = call
  const watch = { call, context, options, output, view }
  const wrong = output.transform && transformError(output.transform.as, false)
  if (wrong) throw wrong
  if (output.transform?.as === 'Table') includeObject(queryValue(request.query, 'includeObject'))
  const revision = parseRevision(options.resourceVersion)
  const isInitial = options.sendInitialEvents ?? !revision
  if (getsNoEvents(request)) return withoutEvents
  const isLive = await startCredentialCheck(context, services)
  const open = await services.openWatch(context)
  const check: CredentialCheck = async () => {
    await open.keep()
    return isLive()
  }
  const start = await view.begin({ revision, isInitial }).catch(async (error: unknown) => {
    if (isTooNew(error)) return toStatusError(error, askedRevision(request))
    await open.close()
    throw error
  })
  // kube-apiserver also sends the error for initial events at a future revision in the stream.
  const isRefused = start instanceof StatusError
  const lines = isRefused ? [eventWriter(watch).error(start.status)] : events(watch, { ...start, isInitial }, check)
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    warnings,
    ...whileCredentialHolds(services, check, closeAfter(open, lines), {
      failed: (error) => eventWriter(watch).error(failure(error)),
    }),
    immediate: true,
  }
}

/** Yields the lines and closes the watch after the last one. */
async function* closeAfter(watch: OpenWatch, lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  try {
    yield* lines
  } finally {
    await watch.close()
  }
}

const isTooNew = (error: unknown): boolean => error instanceof StorageError && error.code === 'TooNew'

/** Returns the changes after a revision, or undefined for a future revision: kube-apiserver waits for it silently. */
async function changesAfter({ storage, kind }: StoredCall['store'], rv: number): Promise<ChangeBatch | undefined> {
  try {
    return await storage.changes(kind.table, rv)
  } catch (error) {
    if (isTooNew(error)) return undefined
    throw error
  }
}

/** Returns the Status of a failed read. An expired log after revision `rv` makes the client list again. Any other failure cuts the stream. */
function failure(error: unknown, rv = 0): Status {
  if (error instanceof StorageError && error.code === 'Expired') {
    return expired(`too old resource version: ${rv} (${error.current ?? 'unknown'})`).status
  }
  if (!(error instanceof StorageError || error instanceof StatusError)) throw error
  return toStatusError(error).status
}

async function* events(
  watch: Watch,
  start: Begun & Pick<WatchStart, 'isInitial'>,
  check: CredentialCheck,
): AsyncGenerator<string> {
  const { call, options, view } = watch
  const { store, services } = call
  const { allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options
  const write = eventWriter(watch)
  const began = services.elapsed()
  const end = watchEnd(services.watchLimits, timeoutSeconds, began)
  let { rv } = start
  let isSilent = true

  try {
    for await (const objects of start.initial) {
      for (const object of objects) {
        isSilent = false
        yield write.change('ADDED', object)
      }
    }
  } catch (error) {
    yield write.error(failure(error, rv))
    return
  }
  if (start.isInitial && allowWatchBookmarks && sendInitialEvents) {
    isSilent = false
    yield write.bookmark(rv, true)
  }
  let lastEvent = services.elapsed()
  // A silent watch begins with a bookmark, which carries the headers of the response.
  let spoken = isSilent ? Number.NEGATIVE_INFINITY : lastEvent
  let isReached = true
  const pace = watchPace(lastEvent)
  for (let now = lastEvent; now < end(lastEvent); now = services.elapsed()) {
    let batch: ChangeBatch | undefined
    using notice = store.storage.notice(store.kind.table, rv)
    try {
      batch = await changesAfter(store, rv)
      isReached = batch !== undefined
      for await (const { type, object } of batch ? view.events(batch) : []) {
        lastEvent = services.elapsed()
        spoken = lastEvent
        pace.sent(lastEvent)
        yield write.change(type, object)
      }
      rv = batch?.rv ?? rv
      if (!(await check())) return
    } catch (error) {
      yield write.error(failure(error, rv))
      return
    }
    if (allowWatchBookmarks && isReached && now - spoken >= bookmarkMs) {
      yield write.bookmark(rv)
      spoken = now
    }
    const after = services.elapsed()
    const wait = pace.wait(after)
    if (batch?.more) continue
    const slept = services.sleep(Math.min(wait, Math.max(0, end(lastEvent) - after))).then(() => false)
    const isTold = await Promise.race([slept, notice.change.then(() => true)])
    if (isTold) await services.sleep(Math.max(0, closestMs - (services.elapsed() - now)))
  }
  if (allowWatchBookmarks && isReached) yield write.bookmark(rv)
}
