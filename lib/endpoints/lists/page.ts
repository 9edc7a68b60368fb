/** One page of a collection, as lists and deletecollection read it: where it starts, at which revision, and its token. */
import { badRequest, expired } from '../../meta/errors/status.ts'
import type { KubeObject } from '../../meta/types.ts'
import type { ListVerb, StoredKind } from '../../registry/kind.ts'
import { list } from '../../registry/read.ts'
import { keyOf, presented } from '../../registry/store.ts'
import { StorageError } from '../../storage/errors.ts'
import type { ListPage, ListRequest } from '../../storage/interface.ts'
import type { StoredExchange } from '../exchange.ts'
import type { ListOptions } from '../options.ts'
import type { ApiRequest } from '../request.ts'
import type { ListMetadata } from '../respond.ts'
import { decodeContinue, encodeContinue } from './continuetoken.ts'
import { revisionOf, type Selection } from './selection.ts'

const expiredContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

export type Start = Pick<ListRequest, 'at' | 'after' | 'notOlderThan'>

/** Keys in tokens are relative to the collection that was asked. */
const absolute = (namespace: string, key: string): string => (namespace ? `${namespace}/${key}` : key)
const relative = (namespace: string, key: string): string => (namespace ? key.slice(namespace.length + 1) : key)

interface Collection {
  kind: Pick<StoredKind, 'scope'>
  request: Pick<ApiRequest, 'namespace'>
}

/** The key of the one object that the request can mean; undefined where it can mean several. */
function keyMeant({ request, kind }: Collection, { name, namespace }: Selection): string | undefined {
  const place = kind.scope === 'Cluster' ? '' : request.namespace || namespace
  return name === undefined || place === undefined ? undefined : keyOf(place, name)
}

/**
 * What of the collection is read for a selection: one object where it can mean one only, which kube-apiserver reads by its
 * key, too. A page that continues another is read as such.
 */
export function rangeOf(
  collection: Collection,
  selection: Selection,
  start: Start,
): Pick<ListRequest, 'namespace' | 'key' | 'matches'> & Start {
  const key = start.after === undefined ? keyMeant(collection, selection) : undefined
  const namespace = collection.request.namespace || selection.namespace
  return {
    ...start,
    ...(namespace && { namespace }),
    ...(key !== undefined && { key }),
    ...(!selection.all && { matches: selection.matches }),
  }
}

/** A resourceVersion without resourceVersionMatch is exact where the list is read in pages. Throws 400. */
export function startOf(
  collection: Collection,
  options: ListOptions,
  selection: Selection,
  isLimited = options.limit > 0,
): Start {
  const { namespace } = collection.request
  if (options.continue) {
    const { rv, after } = decodeContinue(options.continue)
    if (!['', '0'].includes(options.resourceVersion)) {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    return { after: absolute(namespace, after), ...(rv > 0 && { at: rv }) }
  }
  const revision = revisionOf(options.resourceVersion, 'invalid resource version: ')
  if (!revision) return {}
  const inPages = isLimited && keyMeant(collection, selection) === undefined
  return (options.resourceVersionMatch || (inPages ? 'Exact' : 'NotOlderThan')) === 'Exact'
    ? { at: revision }
    : { notOlderThan: revision }
}

/** 410 of a continue token comes with another one, which goes on at the newest revision. */
function translate(error: unknown, start: Start, namespace: string): unknown {
  if (error instanceof StorageError && error.code === 'Expired' && start.after !== undefined) {
    return expired(expiredContinue, encodeContinue({ rv: -1, after: relative(namespace, start.after) }))
  }
  return error
}

/**
 * What this user may see of the collection and the selectors match; `limit` 0 = as much as a page holds. Objects that follow
 * are told of (as `next`) whether they match or not.
 */
export async function readPage(
  exchange: StoredExchange,
  selection: Selection,
  start: Start,
  limit: number,
  verb: ListVerb,
): Promise<ListPage> {
  const { store, context, request } = exchange
  const range = { ...rangeOf(exchange, selection, start), ...(limit > 0 && { limit }) }
  try {
    return await list(store, range, verb, context)
  } catch (error) {
    throw translate(error, start, request.namespace)
  }
}

/** The token of the next page, undefined after the last one. */
const nextToken = ({ rv, next }: ListPage, namespace: string): string | undefined =>
  next === undefined ? undefined : encodeContinue({ rv, after: relative(namespace, next) })

/** What the answer says of the list that begins with this page: only of a limited one something is told to follow. */
export function metadataOf(
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

/** Where the page after another one starts, at the same revision. */
export type Following = Required<Pick<ListRequest, 'at' | 'after'>>

/** A page and all that follow it, each read when those before it have been taken. */
export async function* pagesFrom(
  page: ListPage,
  read: (start: Following) => Promise<ListPage>,
): AsyncGenerator<ListPage> {
  for (let current = page; ; ) {
    yield current
    const { rv, next } = current
    if (next === undefined) return
    current = await read({ after: next, at: rv })
  }
}

/** The objects of a page as answers show them, each decoded when it is its turn. */
export function* shown(
  { store, context }: Pick<StoredExchange, 'store' | 'context'>,
  { items }: Pick<ListPage, 'items'>,
): Generator<KubeObject> {
  for (const one of items) yield presented(store, one.read(), context)
}

/** The objects of pages. */
export async function* shownPages(
  exchange: StoredExchange,
  pages: AsyncIterable<ListPage> | Iterable<ListPage>,
): AsyncGenerator<Iterable<KubeObject>> {
  for await (const one of pages) yield shown(exchange, one)
}
