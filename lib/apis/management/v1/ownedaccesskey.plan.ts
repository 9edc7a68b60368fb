/** Declares the plan of a write of an access key: what the server itself asks for, and what the hooks find out. */
import type { KeyInternal } from '../../../authentication/keyinternal.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import type { EndedValue, ValuesChange } from '../../../authentication/values/keyvalues.ts'
import type { StatusError } from '../../../meta/errors/status.ts'
import type { Draft, RequestContext } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'

/** A key that an exchange creates. It is not bound by the quota. */
export interface ExchangedKey {
  /** Labels of the server, which no client may set. */
  labels: Readonly<Record<string, string>>
  /** Whose key it is, and what it comes through. `creator` is the maker of the trust: the key is theirs if its spec names no owner. */
  origin: Omit<KeyInternal, 'credential'>
  /**
   * Returns the items to write in the transaction of the key with this credential, such as the record of the ID token. Runs
   * again after a lost race. If one exists already, the create fails with a StorageError, which the caller explains.
   */
  companions(credential: KeyHash): Promise<readonly Companion[]>
}

/** A change of the values, and the items to write with it, such as a signal. */
export type PlannedChange = ValuesChange & { items?: readonly Companion[] }

/**
 * Returns the change of the values, or undefined for none. `settled` is the internal part after the open rotation was
 * settled. Runs again after a lost race. Throws a StatusError to refuse the update.
 */
export type ChangeValues = (
  settled: KeyInternal,
  objects: { draft: Draft<KeyPlan>; old: Stored; context: RequestContext },
) => PlannedChange | undefined | Promise<PlannedChange | undefined>

export interface KeyPlan {
  exchanged?: ExchangedKey
  /** Changes the values with an update: a rotation, or a report of a leak. */
  change?: ChangeValues
  /** Whether the rules for the update are those for a change of spec.key. */
  isRotation?: true
  /** Returns the items to write when the key is removed. They replace those for the same credential. */
  removal?(before: Stored): readonly Companion[]
  /** The hint of a generated value. Only the credential stores it: rows are listed. */
  hint?: string
  /** Why an update conflicts with the trial of a scope. Only who may make it is told. */
  conflict?: StatusError
  /** Whether the write asks to drop the scopes that were added to the inherited ones. */
  drops?: boolean
  /** The items to write with a new key. */
  created?: readonly Companion[]
  /** How the update came to the internal part. */
  update?: {
    /** The internal part after the open rotation was settled. */
    settled: KeyInternal
    /** The values that the update ends. */
    ended: readonly EndedValue[]
    items: readonly Companion[]
    /** When the pending value was first used, if it was. */
    firstUsed?: number
    isUnused?: true
    /** The time of the request. Times are unix seconds. */
    at: number
  }
}
