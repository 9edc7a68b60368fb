/** Get and list: what a user may see, at which revision. Source: registry/generic/registry/store.go (Get, List). */
import { isMaster } from '../authorization/users/identity.ts'
import { notFound } from '../meta/errors/status.ts'
import type { ListPage, ListRequest, Stored } from '../storage/interface.ts'
import { groupResource, type ListVerb, type RequestContext } from './kind.ts'
import { accessTo, demandAccess, keyOf, type Store } from './store.ts'

export interface Wanted {
  namespace: string
  name: string
  subresource: string
  /** A revision that there must have been. */
  reached?: number | undefined
}

/**
 * One object. Throws 404 where it does not exist for this user, 403 where it does but may not be read; TooNew where
 * the revision is still to come, whether or not the object exists.
 */
export async function get(
  store: Store,
  { namespace, name, subresource, reached = 0 }: Wanted,
  context: RequestContext,
): Promise<Stored> {
  const { storage, kind } = store
  const stored = await storage.get(kind.table, keyOf(namespace, name), { reached })
  if (!stored) throw notFound(groupResource(kind), name)
  demandAccess(store, stored, 'get', subresource, context)
  return stored
}

/** Whether this user's lists and watches show an object; undefined where they show everything. */
export function visible(
  store: Pick<Store, 'strategy'>,
  verb: ListVerb,
  context: RequestContext,
): ((stored: Stored) => boolean) | undefined {
  // An administrator whose scope leaves them only what is their own has partitions.
  if (isMaster(context.user) && store.strategy.partitions?.(context.user, verb) === undefined) return undefined
  return (stored) => accessTo(store, stored, verb, '', context).type === 'allowed'
}

/** A page of what this user may see and the selectors match. */
export function list(
  store: Store,
  request: Omit<ListRequest, 'partitions' | 'filter'>,
  verb: ListVerb,
  context: RequestContext,
): Promise<ListPage> {
  const partitions = store.strategy.partitions?.(context.user, verb)
  const filter = visible(store, verb, context)
  return store.storage.list(store.kind.table, {
    ...request,
    ...(partitions && { partitions }),
    ...(filter && { filter }),
  })
}
