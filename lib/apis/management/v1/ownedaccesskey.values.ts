/** Reads values of an access key from stored objects and from requests. */

import { decodeKeyInternal } from '../../../authentication/keyinternal.ts'
import { lifeOf } from '../../../authentication/keystatus.ts'
import type { Sealed } from '../../../authentication/sealed.ts'
import { hasValue, valuesOf } from '../../../authentication/values/keyvalues.ts'
import type { ScopeChain } from '../../../authorization/scopes/scope.ts'
import { effectiveUser, type Key, type KeySpec } from '../../../authorization/users/identity.ts'
import { effectiveChain } from '../../../authorization/users/privilege.ts'
import type { Secret } from '../../../meta/schema/writeonly.ts'
import type { KubeObject } from '../../../meta/types.ts'
import { defined } from '../../../meta/value/defined.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import type { Draft } from '../../../registry/kind.ts'
import type { Stored } from '../../../storage/interface.ts'

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

/** Reports whether an exchange made the key. */
export const isExchanged = ({ internal }: Pick<Stored, 'internal'>): boolean =>
  decodeKeyInternal(internal).federation !== undefined

/** Reports whether the update changes more of the spec than `disabled`, including its write-only values. */
export function changesMoreThanDisabled(draft: Draft, old: Stored): boolean {
  const rest = ({ spec }: KubeObject) => {
    const { disabled: _, ...others } = spec ?? {}
    return others
  }
  return draft.specChanged === true || !deepEqual(rest(draft.object), rest(old.object))
}

/** Reports whether the update changes the spec, including its write-only values. */
export const changesSpec = (draft: Draft, old: Stored): boolean =>
  draft.specChanged === true || !deepEqual(draft.object.spec ?? {}, old.object.spec ?? {})
