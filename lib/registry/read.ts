/** Get and list: what a user may see, at which revision. Source: registry/generic/registry/store.go (Get, List). */
import { isMaster } from '../authorization/identity.ts'
import { notFound } from '../meta/errors.ts'
import type { ListPage, ListRequest, Stored } from '../storage/interface.ts'
import { groupResource, type ListVerb, type RequestContext } from './kind.ts'
import { accessTo, demandAccess, keyOf, type Store } from './store.ts'

/** One object. Throws 404 where it does not exist for this user, 403 where it does but may not be read. */
export async function get(
  store: Store,
  { namespace, name, subresource }: { namespace: string; name: string; subresource: string },
  context: RequestContext,
): Promise<Stored> {
  const stored = await store.storage.get(store.kind.table, keyOf(namespace, name))
  if (!stored) throw notFound(groupResource(store.kind), name)
  demandAccess(store, stored, 'get', subresource, context)
  return stored
}

/** Whether this user's lists and watches show the object. */
export const visible =
  (store: Pick<Store, 'strategy'>, verb: ListVerb, context: RequestContext) =>
  (stored: Stored): boolean =>
    accessTo(store, stored, verb, '', context).type === 'allowed'

/** A page of what this user may see and the selectors match. */
export function list(
  store: Store,
  request: Omit<ListRequest, 'partitions' | 'filter'> & { matches?: (stored: Stored) => boolean },
  verb: ListVerb,
  context: RequestContext,
): Promise<ListPage> {
  const { matches, ...rest } = request
  const partitions = store.strategy.partitions?.(context.user, verb)
  // An administrator whose scope leaves them only what is their own has partitions too.
  const everything = isMaster(context.user) && partitions === undefined
  const sees = visible(store, verb, context)
  const filter =
    everything && !matches
      ? undefined
      : (stored: Stored): boolean => (everything || sees(stored)) && (matches?.(stored) ?? true)
  return store.storage.list(store.kind.table, { ...rest, ...(partitions && { partitions }), ...(filter && { filter }) })
}
