/**
 * Finds the access key that has or had a value, by its hash. It makes the same reads for a value that is not known as for one of
 * a key that the user may not read, and reads more only of a visible key. It is not a use of the value.
 */

import { managementRequest } from '../access/attributes/attributes.ts'
import { evaluateHere } from '../access/scopes/evaluate.ts'
import { unixSeconds } from '../engine/meta/encoding/time.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { RequestContext } from '../engine/registry/kind.ts'
import { accessTo } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { readCredential } from './credential/credential.ts'
import type { KeyHash } from './credential/pepper.ts'
import { lifeAt } from './ownedaccesskey.status.ts'
import { ownerOf } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'
import { stateOfValue } from './values/judge.ts'
import { isTombstone, readTombstone } from './values/tombstone.ts'

/** What is stored under the hash of a value: a credential or a tombstone. */
interface FoundItem {
  hash: KeyHash
  item: JsonObject
}

/** Returns the status of a lookup: empty unless the user may read the key. */
export async function lookUp(value: string, context: RequestContext, services: Services): Promise<JsonObject> {
  const { keys } = services
  const store = services.keyStore()
  const found = await findItem(await keys.hashes(value), keys)
  const { name, uid } = found ? keyOf(found.item) : context.user.key
  const stored = await store.storage.get(store.kind.table, name)
  context.note('reviewedKey', found && name)
  const isKey = found !== undefined && stored?.object.metadata.uid === uid
  if (!isKey || !mayRead(stored, context, services)) {
    context.note('review', found ? 'hidden' : 'unknown')
    return {}
  }
  context.note('review', 'found')
  await services.used(context, managementRequest(KINDS.OwnedAccessKey, { verb: 'get', name }))
  return { name, uid, phase: await phaseOf(found, stored, context, services), owner: ownerOf(stored) }
}

/** Reads what is stored under the hashes in one call. */
async function findItem(hashes: readonly KeyHash[], keys: Services['keys']): Promise<FoundItem | undefined> {
  const items = await keys.readCredentials(hashes)
  return hashes
    .map((hash, index) => ({ hash, item: items[index] }))
    .find((one): one is FoundItem => one.item !== undefined)
}

const keyOf = (item: JsonObject): { name: string; uid: string } =>
  isTombstone(item) ? readTombstone(item) : readCredential(item)

/** Reports whether the user may GET the key: the scopes allow it, and the key exists for them. */
function mayRead(stored: Stored, context: RequestContext, { scopes, keyStore }: Services): boolean {
  const { name = '' } = stored.object.metadata
  const asked = { verb: 'get', name }
  const isInScope = evaluateHere(context.user.chain, KINDS.OwnedAccessKey, asked, scopes).allowed
  return isInScope && accessTo(keyStore(), stored, 'get', '', context).type === 'allowed'
}

/** Returns the phase of the key, or that its value has ended. While a rotation is open, it reads the credential of the other value. */
async function phaseOf(
  { hash, item }: FoundItem,
  stored: Stored,
  { now }: RequestContext,
  { keys }: Services,
): Promise<string> {
  const deps = { readCredential: (hashes: readonly KeyHash[]) => findItem(hashes, keys) }
  const found = await stateOfValue(hash, item, deps, unixSeconds(now))
  return 'credential' in found ? lifeAt(keys, stored, now).state : 'Ended'
}
