/**
 * How many objects of a kind may be somebody's. Source: k8s.io/apiserver pkg/admission/plugin/resourcequota.
 */
import { forbiddenResource } from '../meta/errors/status.ts'
import { type Draft, groupResource, type RequestContext } from './kind.ts'
import type { Store } from './store.ts'

/**
 * Throws 403 where the new object would be one more than its owner may have. What is created at the same moment is not
 * counted yet: the count may end up above the quota by as many.
 */
export async function demandQuota(store: Store, draft: Draft, context: RequestContext): Promise<void> {
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
