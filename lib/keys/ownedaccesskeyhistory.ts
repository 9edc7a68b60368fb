/** Defines OwnedAccessKeyHistory, which says what happened to an access key, and which keys it made. */

import { evaluateHere } from '../access/scopes/evaluate.ts'
import { effectiveUser } from '../access/users/identity.ts'
import type { UserInfo } from '../access/users/user.ts'
import { rfc3339OfUnix, unixSeconds } from '../engine/meta/encoding/time.ts'
import { object } from '../engine/meta/schema/schema.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { isObject } from '../engine/meta/value/walk.ts'
import type { ComputedKind, RequestContext } from '../engine/registry/kind.ts'
import { accessTo } from '../engine/registry/store.ts'
import type { CompanionItem, Storage, Stored } from '../engine/storage/interface.ts'
import { getCompanion } from '../engine/storage/readcompanions.ts'
import { KINDS } from '../kinds.ts'
import { keptFrom } from './credential/keptitems.ts'
import { decodeKeyInternal } from './credential/keyinternal.ts'
import { lifeOfStored } from './credential/keystatus.ts'
import { isMadeWith } from './credential/makers.ts'
import { GROUPS, type HistoryEntry, historyPartition, SHOWN, shownEntries } from './history/items.ts'
import { keptSince, positionKey } from './history/keptsince.ts'
import { lifeAt, phaseOf, presentMaker, seenKey, seenMaker } from './ownedaccesskey.status.ts'
import { readAboutKey } from './ownedaccesskey.subresources.ts'
import { madeWith } from './ownedaccesskey.table.ts'
import { toKey } from './ownedaccesskey.values.ts'
import { status } from './ownedaccesskeyhistory.schema.ts'
import type { Services } from './services.ts'

export const OwnedAccessKeyHistory: ComputedKind<Services> = {
  ...KINDS.OwnedAccessKeyHistory,
  description: 'Says what happened to an access key in the last 90 days, which key made it, and which keys it made.',
  schema: { spec: object('Nothing.', {}), status },
  read: (request, services) =>
    readAboutKey(KINDS.OwnedAccessKeyHistory, request, services, (stored) =>
      historyOf(stored, request.context, services),
    ),
}

async function historyOf(stored: Stored, context: RequestContext, services: Services): Promise<JsonObject> {
  const { storage } = services.keyStore()
  const { name = '', uid = '' } = stored.object.metadata
  const [items, made, position] = await Promise.all([
    newestItems(storage, historyPartition(uid)),
    presentMade(services, { name, uid }, context),
    getCompanion(storage, positionKey),
  ])
  const owner = effectiveUser(toKey(stored)).name
  const kept = keptSince(position)
  const { created } = lifeOfStored(stored)
  const oldest = keptFrom(unixSeconds(context.now))
  return {
    ...(kept !== undefined && { since: rfc3339OfUnix(Math.max(kept, created, oldest)) }),
    events: shownEntries(items)
      .filter(({ at }) => at >= oldest)
      .map((entry) => presentEvent(entry, owner, context.user, services)),
    ...presentMaker(stored, context.user, services.scopes),
    ...made,
    madeSince: rfc3339OfUnix(created),
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

/** The most keys that are shown. */
const MOST = 100
/** The most names of keys that are read to find the newest: about a hundred read units. */
const MOST_NAMES = 5000
const AT_ONCE = 16

/** Returns `made`, and `truncated` if the key made more, or may have. */
async function presentMade(
  services: Services,
  { name, uid }: { name: string; uid: string },
  context: RequestContext,
): Promise<JsonObject> {
  const { kind, storage } = services.keyStore()
  const names = await storage.names(kind.table, { named: madeWith(name) }, MOST_NAMES)
  names.sort((one, other) => other.rv - one.rv)
  const made: Stored[] = []
  for (let at = 0, isOlder = false; at < names.length && made.length <= MOST && !isOlder; at += AT_ONCE) {
    const read = names.slice(at, at + AT_ONCE).map(({ key }) => storage.get(kind.table, key))
    for (const stored of await Promise.all(read)) {
      const internal = stored && decodeKeyInternal(stored.internal)
      if (stored && internal && isMadeWith(internal, uid, false)) made.push(stored)
      // Another key had the name, and what it made is older.
      else isOlder ||= internal?.maker === name
    }
  }
  const shown = made.slice(0, MOST).flatMap((stored) => presentOne(services, uid, stored, context) ?? [])
  return { made: shown, ...((made.length > MOST || names.length === MOST_NAMES) && { truncated: true }) }
}

/** Returns a key that the maker made, if the reader could get it, and its own status would name the maker to the reader. */
function presentOne(
  services: Services,
  maker: string,
  stored: Stored,
  context: RequestContext,
): JsonObject | undefined {
  const { user, now } = context
  const { name = '', uid = '' } = stored.object.metadata
  const asked = { verb: 'get', name }
  if (!evaluateHere(user.chain, KINDS.OwnedAccessKey, asked, services.scopes).allowed) return undefined
  if (accessTo(services.keyStore(), stored, 'get', '', context).type !== 'allowed') return undefined
  if (seenMaker(stored, user, services.scopes)?.uid !== maker) return undefined
  return {
    name,
    uid,
    made: rfc3339OfUnix(lifeOfStored(stored).created),
    phase: phaseOf(lifeAt(services.keys, stored, now), decodeKeyInternal(stored.internal)),
  }
}
