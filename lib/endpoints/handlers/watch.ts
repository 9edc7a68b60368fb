/**
 * GET of a collection with watch=true: the change log from a revision on, one JSON line per event.
 * Source: k8s.io/apiserver endpoints/handlers/watch.go.
 */

import { stringify } from '../../meta/encoding/json.ts'
import { expired, StatusError } from '../../meta/errors/status.ts'
import { groupVersion } from '../../meta/groupversion.ts'
import type { JsonObject, KubeObject, Status } from '../../meta/types.ts'
import { partialMetadata, table } from '../../printers/table.ts'
import { toStatusError } from '../../registry/errors.ts'
import { list, visible } from '../../registry/read.ts'
import { presented } from '../../registry/store.ts'
import { StorageError } from '../../storage/errors.ts'
import type { ChangeBatch, ListPage, Stored } from '../../storage/interface.ts'
import { type OpenWatch, type StoredExchange, set } from '../exchange.ts'
import { type KeyCheck, keyCheck, whileKeyHolds } from '../keycheck.ts'
import { type Start as ListStart, pagesFrom, rangeOf } from '../lists/page.ts'
import { revisionOf, type Selection, selectionOf } from '../lists/selection.ts'
import { includeObject, type Output, unfit } from '../negotiation/accept.ts'
import { askedRevision, first as firstValue } from '../request.ts'
import { eventsOf } from '../watches/events.ts'
import { watchPace } from '../watches/pace.ts'
import { heartbeatMs, watchMs } from '../watches/times.ts'
import { asksForWebSocket, noWebSocket } from '../watches/websocket.ts'

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/** Turns objects into event lines in the negotiated form; a Table carries its columns only once. */
function eventWriter({ kind, request, context, store, services }: StoredExchange, { transform }: Output) {
  let withColumns = true
  const began = services.elapsed()
  /** Of the event, not of the request: a watch is open for minutes. */
  const now = (): Date => new Date(context.now.getTime() + services.elapsed() - began)
  const form = (object: KubeObject): unknown => {
    if (!transform) return object
    if (transform.as !== 'Table') return partialMetadata(object, transform.version)
    const include = includeObject(firstValue(request.query, 'includeObject'))
    const metadata: JsonObject = { resourceVersion: object.metadata.resourceVersion ?? '' }
    const rows = table(kind.columns, object, metadata, {
      version: transform.version,
      include,
      now: now(),
      withColumns,
    })
    withColumns = false
    return rows
  }
  const line = (type: EventType, object: unknown): string => `${stringify({ type, object })}\n`
  return {
    shown: (stored: Stored): KubeObject => presented(store, stored, { user: context.user, now: now() }),
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

interface Start {
  /** What is there, where the watch begins with it. */
  initial: AsyncIterable<ListPage> | undefined
  rv: number
}

/** Where the watch starts: with what is there, or after a revision. */
async function begin(exchange: StoredExchange, selection: Selection): Promise<Start> {
  const { store, context } = exchange
  const { sendInitialEvents, resourceVersion } = set(exchange.listOptions, 'listOptions')
  const revision = revisionOf(resourceVersion)
  const wantsInitial = sendInitialEvents ?? !revision
  if (!wantsInitial) return { initial: undefined, rv: revision || (await store.storage.revision(store.kind.table)) }
  const read = (from: ListStart) => list(store, rangeOf(exchange, selection, from), 'watch', context)
  const first = await read(revision ? { notOlderThan: revision } : {})
  return { initial: pagesFrom(first, read), rv: first.rv }
}

/** Starts a watch; what is wrong with the request is an ordinary error before the stream begins. */
export async function watchObjects(exchange: StoredExchange): Promise<void> {
  const output = set(exchange.output, 'output')
  const selection = selectionOf(exchange.kind, set(exchange.listOptions, 'listOptions'))
  const wrong = output.transform && unfit(output.transform.as, false)
  if (wrong) throw wrong
  if (output.transform?.as === 'Table') includeObject(firstValue(exchange.request.query, 'includeObject'))
  if (asksForWebSocket(exchange.request)) {
    exchange.response = noWebSocket
    return
  }
  const isLive = await keyCheck(exchange)
  const watch = await exchange.services.openWatch(exchange.context)
  const check: KeyCheck = async () => {
    await watch.keep()
    return isLive()
  }
  const start = await begin(exchange, selection).catch(async (error: unknown) => {
    const asked = askedRevision(exchange.request)
    const failed = error instanceof StorageError ? toStatusError(error, asked) : error
    if (isTooNew(error) && failed instanceof StatusError) return failed
    await watch.close()
    throw failed
  })
  const lines = start instanceof StatusError ? refused(exchange, start) : events(exchange, selection, start, check)
  exchange.response = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    warnings: exchange.warnings,
    ...whileKeyHolds(exchange, check, closing(watch, lines), { endless: true }),
    immediate: true,
  }
}

/** The lines, after which the watch no longer counts. */
async function* closing(watch: OpenWatch, lines: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* lines
  } finally {
    await watch.close()
  }
}

const isTooNew = (error: unknown): boolean => error instanceof StorageError && error.code === 'TooNew'

/** Initial events as of a revision that is still to come: kube-apiserver says so in the stream. */
async function* refused(exchange: StoredExchange, { status }: StatusError): AsyncGenerator<string> {
  yield eventWriter(exchange, set(exchange.output, 'output')).error(status)
}

/** Undefined after a revision that is still to come: kube-apiserver waits for it in silence. */
async function changesAfter({ storage, kind }: StoredExchange['store'], rv: number): Promise<ChangeBatch | undefined> {
  try {
    return await storage.changes(kind.table, rv)
  } catch (error) {
    if (isTooNew(error)) return undefined
    throw error
  }
}

/** The Status of a failed poll: an Expired log tells the client to list again. */
function failure(error: unknown, rv: number): Status {
  if (error instanceof StorageError && error.code === 'Expired') {
    return expired(`too old resource version: ${rv} (${error.current ?? 'unknown'})`).status
  }
  if (error instanceof StorageError) return toStatusError(error).status
  if (error instanceof StatusError) return error.status
  throw error
}

async function* events(
  exchange: StoredExchange,
  selection: Selection,
  start: Start,
  check: KeyCheck,
): AsyncGenerator<string> {
  const { store, context, services, request } = exchange
  const { allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = set(exchange.listOptions, 'listOptions')
  const write = eventWriter(exchange, set(exchange.output, 'output'))
  const inNamespace = ({ object }: Stored): boolean =>
    !request.namespace || object.metadata.namespace === request.namespace
  const told = eventsOf({
    selects: (stored) => inNamespace(stored) && selection.matches(stored),
    may: visible(store, 'watch', context),
    latest: (stored) => store.storage.latest(store.kind.table, stored),
    shown: write.shown,
  })
  const began = services.elapsed()
  const end = began + watchMs(timeoutSeconds)
  const pace = watchPace(began)
  let { rv } = start
  let spoken = began
  let isReached = true

  try {
    for await (const { items } of start.initial ?? []) {
      for (const one of items) yield write.change('ADDED', write.shown(one.read()))
    }
  } catch (error) {
    yield write.error(failure(error, rv))
    return
  }
  if (start.initial && allowWatchBookmarks && sendInitialEvents) yield write.bookmark(rv, true)
  for (let now = began; now < end; now = services.elapsed()) {
    let batch: ChangeBatch | undefined
    try {
      batch = await changesAfter(store, rv)
      isReached = batch !== undefined
      for await (const { type, object } of batch ? told(batch) : []) {
        spoken = now
        pace.sent(services.elapsed())
        yield write.change(type, object)
      }
      rv = batch?.rv ?? rv
    } catch (error) {
      yield write.error(failure(error, rv))
      return
    }
    if (!(await check())) return
    if (now - spoken >= heartbeatMs) {
      yield allowWatchBookmarks && isReached ? write.bookmark(rv) : '\n'
      spoken = now
    }
    const wait = pace.wait(services.elapsed())
    if (!batch?.more) await services.sleep(Math.min(wait, Math.max(0, end - services.elapsed())))
  }
  if (allowWatchBookmarks && isReached) yield write.bookmark(rv)
}
