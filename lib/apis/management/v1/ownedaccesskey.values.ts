/** Reads values of an access key from stored objects and from requests. */

import { decodeKeyInternal, type KeyInternal } from '../../../authentication/keyinternal.ts'
import { lifeOf } from '../../../authentication/keystatus.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import type { Sealed } from '../../../authentication/sealed.ts'
import { type EndedValue, hasValue, type ValuesChange, valuesOf } from '../../../authentication/values/keyvalues.ts'
import type { ScopeChain } from '../../../authorization/scopes/scope.ts'
import { besidesEnds } from '../../../authorization/users/ends.ts'
import { effectiveUser, type Key, type KeySpec } from '../../../authorization/users/identity.ts'
import { effectiveChain } from '../../../authorization/users/privilege.ts'
import type { Secret } from '../../../meta/schema/writeonly.ts'
import type { KubeObject } from '../../../meta/types.ts'
import { defined } from '../../../meta/value/defined.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import type { Draft, RequestContext } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'

/** A key that an exchange creates. It is not bound by the quota. */
export interface ExchangedKey {
  /** Labels of the server, which no client may set. */
  labels: Readonly<Record<string, string>>
  /** Whose key it is, and what it comes through. `creator` is the maker of the trust: the key is theirs if its spec names no owner. */
  origin: Omit<KeyInternal, 'credential'>
  /** Where the credential of a key is stored that nobody is to have. Absent: under the hash of a generated value. */
  credential?: KeyHash
  /**
   * Returns the items to write in the transaction of the key, such as the record of the ID token. Runs again after a lost race. If one
   * exists already, the create fails with a StorageError, which the caller explains.
   */
  companions(key: Pick<Draft, 'object' | 'internal'>): Promise<readonly Companion[]>
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
  /** Whether the key is removed only because it has expired. */
  isExpired?: true
  /** The hint of a generated value. Only the credential stores it: rows are listed. */
  hint?: string
  /** In a dry run: the warnings about recorded requests that the new scope would refuse. Only who may make the update sees them. */
  refused?: readonly string[]
  /** Whether the write asks to drop the scopes that were added to the inherited ones. */
  drops?: boolean
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

/** Path of the field that holds the key. */
export const keyPath = ['spec', 'key']

const isKey = ({ path }: Secret): boolean => path.join('.') === keyPath.join('.')

/** Returns the key that a request supplies, if any. */
export const suppliedKey = (secrets: readonly Secret[]): string | undefined => {
  const value = secrets.find(isKey)?.value
  return typeof value === 'string' ? value : undefined
}

/** Returns the other write-only values by their paths below spec. */
export const sealedOf = (secrets: readonly Secret[]): Sealed =>
  Object.fromEntries(
    secrets
      .filter((secret) => !isKey(secret) && typeof secret.value === 'string')
      .map(({ path, value }) => [path.slice(1).join('.'), value as string]),
  )

/** Returns the spec, which the schema has validated. */
export const specOf = ({ spec }: KubeObject): KeySpec => (spec ?? {}) as KeySpec

/** Returns the key as the authorization rules see it. */
export function toKey({ object, internal }: Pick<Stored, 'object' | 'internal'>): Key {
  const { creator, carried, born } = decodeKeyInternal(internal)
  return { uid: object.metadata.uid ?? '', spec: specOf(object), creator, carried, ...defined({ born }) }
}

/** Returns the owner of a key, as its status says. */
export const ownerOf = (stored: Pick<Stored, 'object' | 'internal'>): string => effectiveUser(toKey(stored)).name

/** Returns the scopes that must allow each request with this key. */
export const scopesOf = (stored: Stored): ScopeChain => effectiveChain(toKey(stored))

/** Returns when the key was created, and whether the update gives it a value that it did not have. */
export function changeOf(draft: Draft, old: Stored): { created: number; isRotated: boolean } {
  const before = decodeKeyInternal(old.internal)
  const values = valuesOf(decodeKeyInternal(draft.internal))
  return {
    created: lifeOf(old.object).created,
    isRotated: values.some(({ credential }) => !hasValue(before, credential)),
  }
}

/** Why a key that an exchange made for a target gets no value. */
export const WITHOUT_VALUE = 'needs a key with a value: an exchange made this one for a token, and nobody has its value'

/** Reports whether an exchange made the key for a token: nobody has its value. */
export const isForTarget = ({ internal }: Pick<Stored, 'internal'>): boolean =>
  decodeKeyInternal(internal).target !== undefined

/** Reports whether an exchange made the key. */
export const isExchanged = ({ internal }: Pick<Stored, 'internal'>): boolean =>
  decodeKeyInternal(internal).federation !== undefined

/** Reports whether the update changes more of the spec than what ends access, including its write-only values. */
export const changesMoreThanEnds = (draft: Draft, old: Stored): boolean =>
  draft.specChanged === true || !deepEqual(besidesEnds(draft.object.spec ?? {}), besidesEnds(old.object.spec ?? {}))

/** Reports whether the update changes the spec, including its write-only values. */
export const changesSpec = (draft: Draft, old: Stored): boolean =>
  draft.specChanged === true || !deepEqual(draft.object.spec ?? {}, old.object.spec ?? {})
