/**
 * Limits how many objects of a kind an owner may have. Source: k8s.io/apiserver pkg/admission/plugin/resourcequota.
 */
import { forbiddenResource } from '../meta/errors/status.ts'
import { type Draft, groupResource, type RequestContext } from './kind.ts'
import type { Store } from './store.ts'

/**
 * Throws 403 if the new object exceeds the quota of its owner. Concurrent creates are not counted yet, so the number of
 * objects may exceed the quota by as many.
 */
export async function checkQuota(store: Store, draft: Draft, context: RequestContext): Promise<void> {
  const { kind, storage, strategy } = store
  const quota = strategy.quota?.(draft, context)
  if (!quota) return
  const { name, partition, most } = quota
  const used = await storage.count(kind.table, partition, most)
  if (used < most) return
  const resource = groupResource(kind)
  const counted = `count/${resource.resource}.${resource.group}`
  const why = `exceeded quota: ${name}, requested: ${counted}=1, used: ${counted}=${used}, limited: ${counted}=${most}`
  throw forbiddenResource(resource, draft.object.metadata.name ?? '', why)
}
