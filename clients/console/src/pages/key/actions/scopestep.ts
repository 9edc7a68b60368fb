/** Makes the patches that change the scope of a key, or drop the scopes that were added. */
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { dropPatch, scopePatch } from '../../../../../core/src/scopechange.ts'
import { isSame } from '../../../text/same.ts'

export interface ScopeChange {
  /** A JSON patch: a merge patch would keep members of the scope before. */
  patch: readonly object[]
  /** Reports whether a key is as the patch makes it. */
  isDone(live: AccessKey): boolean
}

/** Returns the change that gives the version of the key that the person has seen this scope, or none. */
export const changeTo = (key: AccessKey, scope: Scope | undefined): ScopeChange => ({
  patch: scopePatch(key, scope),
  isDone: ({ metadata, spec }) => metadata.uid === key.metadata.uid && isSame(spec.scope, scope),
})

/** Returns the change that drops the scopes that were added. */
export const dropChange = (key: AccessKey): ScopeChange => ({
  patch: dropPatch(key),
  isDone: ({ metadata, status }) => metadata.uid === key.metadata.uid && !status?.addedScopes?.length,
})
