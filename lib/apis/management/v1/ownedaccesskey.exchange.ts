/** Makes the strategy with which the server creates the access key of an exchange. */
import { decodeKeyInternal } from '../../../authentication/keyinternal.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import type { ScopeChain } from '../../../authorization/scopes/scope.ts'
import type { Federation, Identity } from '../../../authorization/users/user.ts'
import type { Strategy } from '../../../registry/kind.ts'
import type { Companion } from '../../../storage/interface.ts'
import { replaceInternal } from './ownedaccesskey.credential.ts'

export interface ExchangedKey {
  /** What the key comes through. */
  federation: Federation
  /** When the person signed in, in unix seconds. Absent for a workload. */
  signedIn?: number
  /** Labels of the server, which no client may set. */
  labels: Readonly<Record<string, string>>
  /** The identity of the maker of the trust. The key has it if its spec names none. */
  creator: Identity
  /** The inherited chain, without the key's own scope. */
  carried: ScopeChain
  /**
   * Returns the items to write in the transaction of the key with this credential, such as the record of the ID token. Runs
   * again after a lost race.
   */
  companions(credential: KeyHash): Promise<readonly Companion[]>
}

/**
 * Returns the strategy for one create of an access key by the server itself. Such a key is not bound by the quota. If a
 * companion exists already, the create fails with a StorageError, which the caller explains.
 */
export function exchangedKeyStrategy(
  { companionExists: _, ...strategy }: Strategy,
  { federation, signedIn, labels, creator, carried, companions }: ExchangedKey,
): Strategy {
  return {
    ...strategy,
    async prepareForCreate(draft, context) {
      await strategy.prepareForCreate?.(draft, context)
      const { credential } = decodeKeyInternal(draft.internal)
      const { metadata } = draft.object
      draft.object = { ...draft.object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } }
      replaceInternal(draft, {
        creator,
        carried,
        credential,
        federation,
        ...(signedIn !== undefined && { signedIn }),
      })
    },
    quota: () => undefined,
    companions: async (after, before) => [
      ...((await strategy.companions?.(after, before)) ?? []),
      ...(after ? await companions(decodeKeyInternal(after.internal).credential) : []),
    ],
  }
}
