/** Reads the objects that a user may see. Source: registry/generic/registry/store.go (Get, List). */

import { notFound } from '../meta/errors/status.ts'
import { defined } from '../meta/value/defined.ts'
import type { ListPage, ListRequest, Stored } from '../storage/interface.ts'
import { groupResource, type ListVerb, type RequestContext } from './kind.ts'
import { accessTo, checkAccess, objectKey, type Store } from './store.ts'

interface GetRequest {
  namespace: string
  name: string
  subresource: string
  /** The verb that the user must be allowed. Default: get. A create of a subresource reads its parent with its own. */
  verb?: string
  /** A revision that must exist; else TooNew. */
  reached?: number | undefined
}

/**
 * Reads one object. Throws 404 if it does not exist for this user, and 403 if the user may see but not use it. Throws TooNew
 * if revision `reached` does not exist yet, even if the object does not exist.
 */
export async function getObject(
  store: Store,
  { namespace, name, subresource, verb = 'get', reached = 0 }: GetRequest,
  context: RequestContext,
): Promise<Stored> {
  const { storage, kind } = store
  const stored = await storage.get(kind.table, objectKey(namespace, name), { reached })
  if (!stored) throw notFound(groupResource(kind), name)
  checkAccess(store, stored, verb, subresource, context)
  return stored
}

/** Returns a filter for the objects that this user's lists and watches may show; undefined if they show all objects. */
export function visibilityFilter(
  store: Pick<Store, 'strategy' | 'administers'>,
  verb: ListVerb,
  context: RequestContext,
): ((stored: Stored) => boolean) | undefined {
  // An administrator whose credential allows less has partitions.
  if (store.administers(context.user) !== undefined && store.strategy.partitions?.(context.user, verb) === undefined)
    return undefined
  return (stored) => accessTo(store, stored, verb, '', context).type === 'allowed'
}

/** Returns a page of the objects that this user may see and the selectors match. */
export async function listObjects(
  store: Store,
  request: Omit<ListRequest, 'partitions' | 'filter'>,
  verb: ListVerb,
  context: RequestContext,
): Promise<ListPage> {
  const partitions = store.strategy.partitions?.(context.user, verb)
  const filter = visibilityFilter(store, verb, context)
  return store.storage.list(store.kind.table, { ...request, ...defined({ partitions, filter }) })
}
