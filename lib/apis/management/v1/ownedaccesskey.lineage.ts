/** Presents which access key made a key. */
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
 * Returns `madeWith` for a reader of the key: administrators, and its owner if the maker had the same identity. Otherwise the
 * key of another user would be named. A reader with a scope sees it on keys that carry the scope, and the name if the scope
 * allows a read of that key. What the key of the request itself has made says nothing, as for objects of any other kind.
 */
export function presentMaker(stored: Stored, user: UserInfo, scopes: ScopeOptions): JsonObject {
  const { ancestors, maker: name, creator } = decodeKeyInternal(stored.internal)
  const uid = ancestors?.at(-1)
  if (uid === undefined || name === undefined || uid === user.key.uid) return {}
  const key = toKey(stored)
  if (!containsChain(effectiveChain(key), user.chain)) return {}
  const decision = evaluateHere(user.chain, KINDS.OwnedAccessKey, { verb: 'get', name }, scopes)
  const { own, self } = decision.allowed ? decision : {}
  const isOwners = creator === keyIdentity(key)
  if (!isOwners && (!isMaster(user) || own)) return {}
  return { madeWith: { ...(decision.allowed && !self && { name }), uid } }
}
