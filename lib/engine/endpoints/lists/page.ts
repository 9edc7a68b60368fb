/** Opens a collection for list, deletecollection and the initial events of a watch: where it starts, its pages, its metadata. */
import { badRequest, expired } from '../../meta/errors/status.ts'
import type { JsonObject, KubeObject } from '../../meta/types.ts'
import { defined } from '../../meta/value/defined.ts'
import type { ListVerb, Reader, RequestContext, StoredKind } from '../../registry/kind.ts'
import { listObjects } from '../../registry/read.ts'
import { objectKey, presenterOf, type Store } from '../../registry/store.ts'
import { StorageError } from '../../storage/errors.ts'
import type { ListPage, ListRequest, Stored } from '../../storage/interface.ts'
import type { StoredCall } from '../call.ts'
import type { ApiRequest } from '../request.ts'
import type { ListMetadata } from '../respond.ts'
import { decodeContinue, encodeContinue } from './continuetoken.ts'
import type { ListOptions } from './listoptions.ts'
import { parseRevision, type Selection } from './selection.ts'

const expiredContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

export type ListStart = Pick<ListRequest, 'at' | 'after' | 'notOlderThan'>

/** Keys in continue tokens are relative to the requested collection. */
const absolute = (namespace: string, key: string): string => (namespace ? `${namespace}/${key}` : key)
const relative = (namespace: string, key: string): string => (namespace ? key.slice(namespace.length + 1) : key)

interface Collection {
  kind: Pick<StoredKind, 'scope'>
  request: Pick<ApiRequest, 'namespace'>
}

/** Returns the key of the only object that can match, or undefined when several can. */
function onlyKey({ request, kind }: Collection, { name, namespace }: Selection): string | undefined {
  const place = kind.scope === 'Cluster' ? '' : request.namespace || namespace
  return name === undefined || place === undefined ? undefined : objectKey(place, name)
}

/**
 * Returns the range to read for a selection. A selection of one name is read by its key, as in kube-apiserver, except by
 * a page that continues another. Names of all namespaces with a prefix are in no range of keys.
 */
function rangeOf(
  collection: Collection,
  selection: Selection,
  start: ListStart,
): Pick<ListRequest, 'namespace' | 'namePrefix' | 'key' | 'within' | 'named' | 'matches' | 'text'> & ListStart {
  const key = start.after === undefined ? onlyKey(collection, selection) : undefined
  const namespace = collection.request.namespace || selection.namespace
  const { namePrefix, within, named, text } = selection
  const isRange = namePrefix !== undefined && (collection.kind.scope === 'Cluster' || Boolean(namespace))
  const isWhole = selection.all && (namePrefix === undefined || isRange)
  return {
    ...start,
    ...(namespace && { namespace }),
    ...(isRange && { namePrefix }),
    ...defined({ key, within, named }),
    ...(!isWhole && { matches: selection.matches, text }),
  }
}

/**
 * Returns the start of a list. A resourceVersion without resourceVersionMatch means Exact for lists in pages. Throws 400.
 */
export function startOf(
  collection: Collection,
  options: ListOptions,
  selection: Selection,
  isLimited = options.limit > 0,
): ListStart {
  const { namespace } = collection.request
  if (options.continue) {
    const { rv, after } = decodeContinue(options.continue)
    if (!['', '0'].includes(options.resourceVersion)) {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return { after: absolute(namespace, after), ...(rv > 0 && { at: rv }) }
  }
  const revision = parseRevision(options.resourceVersion, 'invalid resource version: ')
  if (!revision) return {}
  const inPages = isLimited && onlyKey(collection, selection) === undefined
  return (options.resourceVersionMatch || (inPages ? 'Exact' : 'NotOlderThan')) === 'Exact'
    ? { at: revision }
    : { notOlderThan: revision }
}

/** Adds a new token to the 410 of an expired continue token. It continues at the newest revision. */
export function withNewToken(error: unknown, start: ListStart, namespace: string): unknown {
  if (error instanceof StorageError && error.code === 'Expired' && start.after !== undefined) {
    return expired(expiredContinue, encodeContinue({ rv: -1, after: relative(namespace, start.after) }))
  }
  return error
}

/** Returns the continue token of the next page, or undefined after the last page. */
const nextToken = ({ rv, next }: ListPage, namespace: string): string | undefined =>
  next === undefined ? undefined : encodeContinue({ rv, after: relative(namespace, next) })

/** Returns the metadata of the list that begins with this page. Only limited lists have a continue token. */
function pageMetadata(
  page: ListPage,
  { all }: Pick<Selection, 'all'>,
  { namespace, isLimited }: { namespace: string; isLimited: boolean },
): ListMetadata {
  const token = isLimited ? nextToken(page, namespace) : undefined
  return {
    resourceVersion: String(page.rv),
    continue: token,
    remainingItemCount: all && token ? page.remaining : undefined,
  }
}

/** Yields a page and all pages after it, at the same revision. Reads each page when the consumer asks for it. */
async function* pagesFrom(
  page: ListPage,
  read: (start: Required<Pick<ListRequest, 'at' | 'after'>>) => Promise<ListPage>,
): AsyncGenerator<ListPage> {
  for (let current = page; ; ) {
    yield current
    const { rv, next } = current
    if (next === undefined) return
    current = await read({ after: next, at: rv })
  }
}

interface Opening {
  verb: ListVerb
  selection: Selection
  start: ListStart
  /** The client's limit, which makes the collection one page; 0 = none. */
  limit: number
  /** The size of each page of an unlimited collection; 0 = the most that a page can hold. */
  pageSize: number
}

/** A collection whose first page has been read. */
interface OpenCollection {
  /** The revision of all pages. */
  rv: number
  metadata: ListMetadata
  pages: AsyncIterable<ListPage> | Iterable<ListPage>
}

/** Reads the first page of the objects that match the selection and that the user may see. Throws 410 for an old start. */
export async function openCollection(
  { kind, store, request }: StoredCall,
  context: RequestContext,
  { verb, selection, start, limit, pageSize }: Opening,
): Promise<OpenCollection> {
  const { namespace } = request
  const isLimited = limit > 0
  const size = limit || pageSize
  const read = async (from: ListStart): Promise<ListPage> => {
    const range = rangeOf({ kind, request }, selection, from)
    const listing = {
      ...range,
      ...(size > 0 && { limit: size }),
      ...(!isLimited && { keepsNext: true as const }),
    }
    try {
      return await listObjects(store, listing, verb, context)
    } catch (error) {
      // A watch reports an expired page as an event. A later page of an unlimited list may begin at a hidden object.
      throw verb === 'watch' || from !== start ? error : withNewToken(error, from, namespace)
    }
  }
  const first = await read(start)
  return {
    rv: first.rv,
    metadata: pageMetadata(first, selection, { namespace, isLimited }),
    pages: isLimited ? [first] : pagesFrom(first, read),
  }
}

/** Yields the objects of a page as reads present them. Decodes each one when the consumer asks for it. */
export function* presentPage(
  { items }: Pick<ListPage, 'items'>,
  present: (stored: Stored) => KubeObject,
): Generator<KubeObject> {
  for (const one of items) yield present(one.read())
}

function* internals({ items }: ListPage): Generator<JsonObject> {
  for (const one of items) yield one.readInternal()
}

/** Yields the presented objects of each page. */
export async function* presentPages(
  store: Store,
  pages: OpenCollection['pages'],
  reader: Reader,
): AsyncGenerator<Iterable<KubeObject>> {
  for await (const one of pages) yield presentPage(one, await presenterOf(store, internals(one), reader))
}
