/** Finds the keys that a key made, for users who may read them. */
import { madePartition } from '../../../../authentication/history/since.ts'
import { decodeKeyInternal } from '../../../../authentication/keyinternal.ts'
import { isCount, isNonEmptyText } from '../../../../authentication/strictrecord.ts'
import { evaluateHere } from '../../../../authorization/scopes/evaluate.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import { rfc3339OfUnix } from '../../../../meta/encoding/time.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import type { RequestContext } from '../../../../registry/kind.ts'
import { forEach } from '../../../../registry/parallel.ts'
import { accessTo } from '../../../../registry/store.ts'
import { lifeAt, phaseOf, seenMaker } from '../ownedaccesskey.status.ts'
import type { Services } from '../services.ts'

/** The most keys that are looked at: each is read. */
const MOST = 100
const AT_ONCE = 16

/** Returns `made`, and `truncated` if the key made more. */
export async function presentMade(
  services: Services,
  { name, uid }: { name: string; uid: string },
  context: RequestContext,
): Promise<JsonObject> {
  const newest = await services.keyStore().storage.queryCompanions(madePartition(name), { limit: MOST + 1 })
  // Another key may have had the name. Then what it made is older.
  const items = newest.items.filter(({ attributes }) => attributes.maker === uid)
  const looked = items.slice(0, MOST)
  const found = new Map<string, JsonObject>()
  await forEach(
    looked,
    () => true,
    async ({ sk, attributes }) => {
      const one = await presentOne(services, uid, attributes, context)
      if (one) found.set(sk, one)
    },
    AT_ONCE,
  )
  const made = looked.flatMap(({ sk }) => found.get(sk) ?? [])
  return { made, ...(items.length > MOST && { truncated: true }) }
}

/**
 * Returns a key that the maker made, as the reader may see it: it must be one that the reader could get, and whose maker its own
 * status would name. Another key that has the name now is not it.
 */
async function presentOne(
  services: Services,
  maker: string,
  { name, uid, at }: JsonObject,
  context: RequestContext,
): Promise<JsonObject | undefined> {
  const { user, now } = context
  if (!isNonEmptyText(name) || !isCount(at)) return undefined
  const asked = { verb: 'get', name }
  if (!evaluateHere(user.chain, KINDS.OwnedAccessKey, asked, services.scopes).allowed) return undefined
  const store = services.keyStore()
  const stored = await store.storage.get(store.kind.table, name)
  if (stored?.object.metadata.uid !== uid || !stored) return undefined
  if (accessTo(store, stored, 'get', '', context).type !== 'allowed') return undefined
  if (seenMaker(stored, user, services.scopes)?.uid !== maker) return undefined
  return {
    name,
    uid: stored.object.metadata.uid ?? '',
    made: rfc3339OfUnix(at),
    phase: phaseOf(lifeAt(services.keys, stored, now), decodeKeyInternal(stored.internal)),
  }
}
