/** Presents which access key made a key, and decides who may know that. */
import { decodeKeyInternal } from '../../../authentication/keyinternal.ts'
import { containsChain } from '../../../authorization/scopes/chain.ts'
import { evaluateHere } from '../../../authorization/scopes/evaluate.ts'
import type { ScopeOptions } from '../../../authorization/scopes/project.ts'
import { isMaster, keyIdentity } from '../../../authorization/users/identity.ts'
import { effectiveChain } from '../../../authorization/users/privilege.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import type { JsonObject } from '../../../meta/types.ts'
import type { Stored } from '../../../storage/interface.ts'
import { toKey } from './ownedaccesskey.values.ts'

/**
 * Returns which key made this one, for a reader of the key: administrators, and its owner if the maker had the same identity.
 * Otherwise the key of another user would be named. A reader with a scope sees it on keys that carry the scope, and the name if the
 * scope allows a read of that key.
 */
export function seenMaker(stored: Stored, user: UserInfo, scopes: ScopeOptions): SeenKey | undefined {
  const { ancestors, maker: name, creator } = decodeKeyInternal(stored.internal)
  const uid = ancestors?.at(-1)
  if (uid === undefined || name === undefined) return undefined
  const key = toKey(stored)
  if (!containsChain(effectiveChain(key), user.chain)) return undefined
  return seenKey({ name, uid, isOwners: creator === keyIdentity(key) }, user, scopes)
}

interface SeenKey {
  /** Absent if the reader may not read that key. */
  name?: string
  uid: string
}

/** Returns what a reader sees of another key: administrators, and with `isOwners` everybody, see it; scopes limit both. */
export function seenKey(
  { name, uid, isOwners }: { name: string; uid: string; isOwners: boolean },
  user: UserInfo,
  scopes: ScopeOptions,
): SeenKey | undefined {
  const decision = evaluateHere(user.chain, KINDS.OwnedAccessKey, { verb: 'get', name }, scopes)
  const { own, self } = decision.allowed ? decision : {}
  if (!isOwners && (!isMaster(user) || own)) return undefined
  return { ...(decision.allowed && !self && { name }), uid }
}

/** Returns `madeWith`. What the key of the request itself has made says nothing, as for objects of any other kind. */
export function presentMaker(stored: Stored, user: UserInfo, scopes: ScopeOptions): JsonObject {
  const maker = seenMaker(stored, user, scopes)
  return maker === undefined || maker.uid === user.key.uid ? {} : { madeWith: { ...maker } }
}
