/** Decides who may review the access of a key, or read its usage or history: each tells more of the key than its object does. */
import { evaluateHere } from '../../../../authorization/scopes/evaluate.ts'
import { beyondChain } from '../../../../authorization/users/privilege.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import type { SubresourceRule } from '../ownedaccesskey.subresource.ts'
import { toKey } from '../ownedaccesskey.values.ts'

/** Who may read a key may review it. About a key with less scopes than its own, a scoped key would learn what they keep from it. */
export const accessReviewRule: SubresourceRule = {
  as: 'get',
  forbids(user, stored, { scopes }) {
    const { name = '' } = stored.object.metadata
    const decision = evaluateHere(user.chain, KINDS.OwnedAccessKey, { verb: 'get', name }, scopes)
    return decision.allowed ? beyondChain(user, toKey(stored), 'access key') : decision.reason
  },
}
