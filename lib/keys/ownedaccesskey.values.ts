/** Reads values of an access key from stored objects and from requests. */

import type { ScopeChain } from '../access/scopes/scope.ts'
import { besidesEnds } from '../access/users/ends.ts'
import { effectiveUser, type Key, type KeySpec } from '../access/users/identity.ts'
import type { Reviewer } from '../access/users/lockout.ts'
import { effectiveChain } from '../access/users/privilege.ts'
import type { Secret } from '../engine/meta/schema/writeonly.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { RequestContext } from '../engine/registry/kind.ts'
import type { Companion, Stored } from '../engine/storage/interface.ts'
import { decodeKeyInternal, type KeyInternal } from './credential/keyinternal.ts'
import { lifeOf } from './credential/keystatus.ts'
import type { KeyHash } from './credential/pepper.ts'
import type { Sealed } from './credential/sealed.ts'
import { hasValue, type ValuesChange, valuesOf } from './values/keyvalues.ts'

/** A key that an exchange creates. */
interface ExchangeIntent {
  type: 'exchange'
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
  records(credential: KeyHash): Promise<readonly Companion[]>
}

/** A change of the values, the items to write with it, such as a signal, and whether it disables the key. */
export type PlannedChange = ValuesChange & { items?: readonly Companion[]; disables?: boolean }

/**
 * Returns the change of the values, or undefined for none. `settled` is the internal part after the open rotation was
 * settled. Runs again after a lost race. Throws a StatusError to refuse the update.
 */
export type ChangeValues = (
  settled: KeyInternal,
  before: Stored,
  context: RequestContext,
) => PlannedChange | undefined | Promise<PlannedChange | undefined>

/**
 * What the server itself writes a key for. A rotation has the rules of a change of spec.key, and the report of a leak, and the end of an
 * unused key, those of the update.
 * The items of a removal replace those for the same credential. Of a key that expires, or that an exchange takes back, nobody has ended
 * the access.
 */
export type KeyIntent =
  | ExchangeIntent
  | { type: 'rotation' | 'leak' | 'unused'; change: ChangeValues }
  | { type: 'removal' | 'takeBack'; items(before: Stored): readonly Companion[] }
  | { type: 'expiry' }

/** The write-only values of a key. */
export interface Supplied {
  key?: string
  sealed: Sealed
}

/** Path of the field that holds the key. */
export const keyPath = ['spec', 'key']

const isKey = ({ path }: Secret): boolean => path.join('.') === keyPath.join('.')

/** Returns the key that a request supplies, if any, and the other write-only values by their paths below spec. */
export function suppliedIn(secrets: readonly Secret[]): Supplied {
  const texts = secrets.filter((one): one is Secret & { value: string } => typeof one.value === 'string')
  const key = texts.find(isKey)?.value
  const others = texts.filter((secret) => !isKey(secret))
  return {
    ...(key !== undefined && { key }),
    sealed: Object.fromEntries(others.map(({ path, value }) => [path.slice(1).join('.'), value])),
  }
}

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

/** A key as an update writes it. */
export interface ChangedKey extends Pick<Stored, 'object' | 'internal'> {
  /** Whether a change outside the visible spec counts as a change of the spec. */
  specChanged?: boolean
}

/** Returns when the key was created, and whether the update gives it a value that it did not have. */
export function changeOf(draft: ChangedKey, old: Stored): { created: number; isRotated: boolean } {
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
export const changesMoreThanEnds = (draft: ChangedKey, old: Stored): boolean =>
  draft.specChanged === true || !deepEqual(besidesEnds(draft.object.spec ?? {}), besidesEnds(old.object.spec ?? {}))

/** Returns the key as far as it says who may review with it. */
export const reviewer = (key: Pick<Stored, 'object' | 'internal'>): Reviewer => ({
  spec: specOf(key.object),
  chain: effectiveChain(toKey(key)),
  ...defined({ reviewScope: decodeKeyInternal(key.internal).reviewScope }),
})

/** Reports whether the update changes the spec, including its write-only values. */
export const changesSpec = (draft: ChangedKey, old: Stored): boolean =>
  draft.specChanged === true || !deepEqual(draft.object.spec ?? {}, old.object.spec ?? {})
