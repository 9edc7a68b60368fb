/** Reads what happened to an access key, for users who may read the key. */
import {
  GROUPS,
  type HistoryEntry,
  historyPartition,
  SHOWN,
  shownEntries,
} from '../../../../authentication/history/items.ts'
import { keptSince, positionKey } from '../../../../authentication/history/since.ts'
import { keptFrom } from '../../../../authentication/keptitems.ts'
import { lifeOfStored } from '../../../../authentication/keystatus.ts'
import { effectiveUser } from '../../../../authorization/users/identity.ts'
import type { UserInfo } from '../../../../authorization/users/user.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import { rfc3339OfUnix, unixSeconds } from '../../../../meta/encoding/time.ts'
import { groupVersion } from '../../../../meta/groupversion.ts'
import type { JsonObject, KubeObject } from '../../../../meta/types.ts'
import { defined } from '../../../../meta/value/defined.ts'
import { isObject } from '../../../../meta/value/walk.ts'
import type { VirtualRequest } from '../../../../registry/kind.ts'
import type { CompanionItem, Storage } from '../../../../storage/interface.ts'
import { readReviewedKey } from '../accessreview/reviewedkey.ts'
import { presentMaker, seenKey } from '../ownedaccesskey.status.ts'
import { toKey } from '../ownedaccesskey.values.ts'
import type { Services } from '../services.ts'
import { presentMade } from './family.ts'

const { kind, subresource } = KINDS.OwnedAccessKeyHistory

/** Returns the history of a key. Throws 403 or 404. */
export async function readKeyHistory(
  { name, context }: Omit<VirtualRequest, 'object'>,
  services: Services,
): Promise<KubeObject> {
  const stored = await readReviewedKey({ name, subresource }, context, services)
  const { storage } = services.keyStore()
  const { uid = '', creationTimestamp } = stored.object.metadata
  const [items, family, position] = await Promise.all([
    newestItems(storage, historyPartition(uid)),
    presentMade(services, { name, uid }, context),
    storage.getCompanion(positionKey.pk, positionKey.sk),
  ])
  const owner = effectiveUser(toKey(stored)).name
  const kept = keptSince(position)
  const madeSince = kept === undefined ? undefined : Math.max(kept, lifeOfStored(stored).created)
  const oldest = keptFrom(unixSeconds(context.now))
  context.note('reviewedKey', name)
  return {
    apiVersion: groupVersion(KINDS.OwnedAccessKeyHistory),
    kind,
    metadata: defined({ name, uid, creationTimestamp }),
    status: {
      ...(madeSince !== undefined && { since: rfc3339OfUnix(Math.max(madeSince, oldest)) }),
      events: shownEntries(items)
        .filter(({ at }) => at >= oldest)
        .map((entry) => presentEvent(entry, owner, context.user, services)),
      ...presentMaker(stored, context.user, services.scopes),
      ...family,
      ...(madeSince !== undefined && { madeSince: rfc3339OfUnix(madeSince) }),
    },
  }
}

/** Returns the newest items of each group, as far as they are shown: in one call, if these are all. */
async function newestItems(storage: Storage, pk: string): Promise<CompanionItem[]> {
  const page = await storage.queryCompanions(pk, { limit: SHOWN })
  if (page.next === undefined) return page.items
  const pages = await Promise.all(
    GROUPS.slice(1).map((group) => storage.queryCompanions(pk, { after: `${group}#`, limit: SHOWN })),
  )
  const all = [page, ...pages].flatMap(({ items }) => items)
  return [...new Map(all.map((item) => [item.sk, item])).values()]
}

function presentEvent(
  { kind: type, at, detail: { actor, ip, userAgent, ...detail } }: HistoryEntry,
  owner: string,
  user: UserInfo,
  { keys, scopes }: Pick<Services, 'keys' | 'scopes'>,
): JsonObject {
  const seen = isObject(actor) ? presentActor(actor, owner, user, scopes) : undefined
  return {
    time: rfc3339OfUnix(at),
    type,
    ...(seen && { actor: seen }),
    ...detail,
    ...(keys.recordSources && defined({ ip, userAgent })),
  }
}

/** Returns who did something, as far as the reader would see that they made the key. The server itself is no other user. */
function presentActor(
  { user: name, accessKey, accessKeyUid }: JsonObject,
  owner: string,
  reader: UserInfo,
  scopes: Services['scopes'],
): JsonObject | undefined {
  if (typeof name !== 'string') return undefined
  if (name.startsWith('system:')) return { user: name }
  const key = { name: String(accessKey ?? ''), uid: String(accessKeyUid ?? '') }
  const seen = seenKey({ ...key, isOwners: name === owner || name === reader.name }, reader, scopes)
  if (seen === undefined) return undefined
  return { user: name, ...(seen.name && { accessKey: seen.name }), ...(seen.uid && { accessKeyUid: seen.uid }) }
}
