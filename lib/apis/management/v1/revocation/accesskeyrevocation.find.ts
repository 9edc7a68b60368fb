/** Finds the access keys that a revocation selects, and describes them. */

import { decodeKeyInternal } from '../../../../authentication/keyinternal.ts'
import type { KeyHash } from '../../../../authentication/pepper.ts'
import { visiblePartitions } from '../../../../authorization/users/privilege.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import { byBytes } from '../../../../meta/value/byteorder.ts'
import { defined } from '../../../../meta/value/defined.ts'
import { eachStored } from '../../../../registry/each.ts'
import type { RequestContext } from '../../../../registry/kind.ts'
import { objectKey, presentObject, type Store } from '../../../../registry/store.ts'
import type { Stored } from '../../../../storage/interface.ts'
import type { Services } from '../services.ts'
import { MOST_OWNERS_SHOWN, MOST_SHOWN, type RevocationSpec } from './accesskeyrevocation.schema.ts'
import { isInScope, ownersOf } from './accesskeyrevocation.selection.ts'

/** A selected object. */
export interface Selected {
  name: string
  uid: string
}

/** A key as the answer shows it, and where the credential of its current value is. */
interface ShownKey {
  shown: JsonObject
  credential: KeyHash
}

interface FoundKeys {
  /** In the order of their names, without the spared key of the request. */
  keys: Selected[]
  byOwner: JsonObject
  shown: ShownKey[]
  /** Whether the key of the request is selected, and not in `keys`. */
  isSelfSpared: boolean
}

/** How many keys are read at a time, and for a list of names. */
const READS_AT_ONCE = 16
/** The longest display name that the answer shows, in characters. */
const LONGEST_NAME = 128
/** How many items one call reads. */
const BATCH = 100

/** Returns the selected keys. Reads only those that the spec names, or the keys of the owners in it, or all. */
export async function findKeys(
  { keyStore, scopes }: Pick<Services, 'keyStore' | 'scopes'>,
  asked: RevocationSpec,
  test: (stored: Stored) => boolean,
  context: RequestContext,
): Promise<FoundKeys> {
  const store = keyStore()
  const { user } = context
  const found: FoundKeys = { keys: [], byOwner: {}, shown: [], isSelfSpared: false }
  const owners = new Map<string, number>()
  for await (const stored of candidates(store, asked, scopes, context)) {
    if (!test(stored)) continue
    const { name = '', uid = '' } = stored.object.metadata
    if (uid === user.key.uid && !asked.includeSelf) {
      found.isSelfSpared = true
      continue
    }
    found.keys.push({ name, uid })
    const { status = {} } = presentObject(store, stored, context)
    const owner = String(status.owner)
    owners.set(owner, (owners.get(owner) ?? 0) + 1)
    if (found.shown.length < MOST_SHOWN) found.shown.push(shownKey(stored, status))
  }
  const most = [...owners].sort(([a, m], [b, n]) => n - m || byBytes(a, b)).slice(0, MOST_OWNERS_SHOWN)
  return { ...found, byOwner: Object.fromEntries(most) }
}

/**
 * Yields the keys that the spec may select, and reads no more than the user could list: names that the scopes leave out are not read,
 * and many names of a user who sees few keys are looked up in the list of these.
 */
async function* candidates(
  store: Store,
  asked: RevocationSpec,
  scopes: Services['scopes'],
  context: RequestContext,
): AsyncGenerator<Stored> {
  const { user } = context
  const names = asked.names && new Set(asked.names.filter((name) => isInScope(user, asked, name, scopes)))
  if (!names) yield* listed(store, asked, context)
  else if (names.size <= READS_AT_ONCE || !visiblePartitions(user)) yield* named(store, [...names])
  else for await (const one of listed(store, asked, context)) if (names.has(one.object.metadata.name ?? '')) yield one
}

/** Yields the keys with these names, in their order. */
async function* named({ kind, storage }: Store, names: readonly string[]): AsyncGenerator<Stored> {
  const sorted = [...names].sort(byBytes)
  for (let at = 0; at < sorted.length; at += READS_AT_ONCE) {
    const read = sorted.slice(at, at + READS_AT_ONCE).map((name) => storage.get(kind.table, objectKey('', name)))
    for (const stored of await Promise.all(read)) if (stored) yield stored
  }
}

/** Yields the keys of the owners in the spec, or all that the user may see, at one revision. */
function listed(store: Store, asked: RevocationSpec, { user }: RequestContext): AsyncGenerator<Stored> {
  const owners = ownersOf(asked)
  const visible = visiblePartitions(user)
  const partitions = owners && visible ? owners.filter((one) => visible.includes(one)) : (owners ?? visible)
  return eachStored(store, partitions)
}

/** Describes a key. Keeps little of it: keys may be large. */
function shownKey({ object, internal }: Stored, status: JsonObject): ShownKey {
  const { displayName } = (object.spec ?? {}) as { displayName?: string }
  const { credential, value, ended } = decodeKeyInternal(internal)
  const { owner = '', lastActivity, expirationTimestamp } = status
  const hint = ended ? undefined : value?.hint
  return {
    credential,
    shown: {
      name: object.metadata.name ?? '',
      owner,
      ...(displayName && { displayName: [...displayName.slice(0, 2 * LONGEST_NAME)].slice(0, LONGEST_NAME).join('') }),
      ...defined({ lastActivity, expirationTimestamp, hint }),
    },
  }
}

/** Returns the keys with the hints of first values, which only their credentials have. */
export async function showHints({ keys }: Pick<Services, 'keys'>, found: readonly ShownKey[]): Promise<JsonObject[]> {
  const without = found.filter(({ shown }) => shown.hint === undefined)
  for (let at = 0; at < without.length; at += BATCH) {
    const batch = without.slice(at, at + BATCH)
    const items = await keys.readCredentials(batch.map(({ credential }) => credential))
    batch.forEach(({ shown }, index) => {
      const hint = items[index]?.hint
      if (typeof hint === 'string') shown.hint = hint
    })
  }
  return found.map(({ shown }) => shown)
}
