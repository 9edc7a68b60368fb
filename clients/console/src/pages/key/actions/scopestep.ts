/** Makes the patches that give a key the advised scope, put its former scope back, and drop the scopes that were added. */
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { dropPatch, scopePatch } from '../../../../../core/src/scopechange.ts'
import { isSame } from '../../../text/same.ts'

/** The titles of the steps. */
export const scopeSteps = {
  add: 'Add the entry',
  apply: 'Use the smaller scope',
  back: 'Put the former scope back',
  drop: 'Drop the added scopes',
} as const

export type ScopeStep = keyof typeof scopeSteps

export interface ScopeChange {
  /** A JSON patch: a merge patch would keep members of the scope before. */
  patch: readonly object[]
  /** Reports whether a key is as the patch makes it. */
  isDone(live: AccessKey): boolean
}

/** Returns the scope that the key has after the step. */
export const scopeAfter = ({ spec, status }: AccessKey, step: ScopeStep, advised: Scope | undefined) =>
  ({ add: advised, apply: advised, back: status?.formerScope?.scope, drop: spec.scope })[step]

/** Returns the change that gives the version of the key that the person has seen this scope, or none. */
export const changeTo = (key: AccessKey, scope: Scope | undefined): ScopeChange => ({
  patch: scopePatch(key, scope),
  isDone: ({ metadata, spec }) => metadata.uid === key.metadata.uid && isSame(spec.scope, scope),
})

/** Returns the change of a step. `advised` is the smaller scope of the advice. */
export const scopeChange = (key: AccessKey, step: ScopeStep, advised: Scope | undefined): ScopeChange =>
  step === 'drop'
    ? {
        patch: dropPatch(key),
        isDone: ({ metadata, status }) => metadata.uid === key.metadata.uid && !status?.addedScopes?.length,
      }
    : changeTo(key, scopeAfter(key, step, advised))
