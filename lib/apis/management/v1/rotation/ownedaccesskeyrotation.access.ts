/** Decides who may rotate an access key. */
import { forbiddenBeyondDisabling } from '../../../../authorization/users/exchanged.ts'
import type { SubresourceRule } from '../ownedaccesskey.subresource.ts'
import { isExchanged } from '../ownedaccesskey.values.ts'

export const rotationRule: SubresourceRule = {
  forbids: (user, key) => forbiddenBeyondDisabling(user, isExchanged(key)),
}
