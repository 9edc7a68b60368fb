/** Makes the strategy with which the server creates the access key of an exchange. */
import { decodeKeyInternal, encodeKeyInternal } from '../../../authentication/keyinternal.ts'
import type { ScopeChain } from '../../../authorization/scopes/scope.ts'
import type { Federation, Identity } from '../../../authorization/users/user.ts'
import type { Strategy } from '../../../registry/kind.ts'
import type { Companion } from '../../../storage/interface.ts'

export interface ExchangedKey {
  /** What the key comes through. */
  federation: Federation
  /** The identity of the maker of the trust. The key has it if its spec names none. */
  creator: Identity
  /** The inherited chain, without the key's own scope. */
  carried: ScopeChain
  /** Items to write in the transaction of the key, such as the record of the ID token. */
  companions: readonly Companion[]
}

/**
 * Returns the strategy for one create of an access key by the server itself. Such a key is not bound by the quota. If a
 * companion exists already, the create fails with a StorageError, which the caller explains.
 */
export function exchangedKeyStrategy(
  { companionExists: _, ...strategy }: Strategy,
  { federation, creator, carried, companions }: ExchangedKey,
): Strategy {
  return {
    ...strategy,
    async prepareForCreate(draft, context) {
      await strategy.prepareForCreate?.(draft, context)
      const { credential } = decodeKeyInternal(draft.internal)
      draft.internal = encodeKeyInternal({ creator, carried, credential, federation })
    },
    quota: () => undefined,
    companions: async (after, before) => [...((await strategy.companions?.(after, before)) ?? []), ...companions],
  }
}
