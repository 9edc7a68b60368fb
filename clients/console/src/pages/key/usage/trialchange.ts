/** Makes the patches that begin a trial of a scope, end it, make it real and put the former scope back. */
import { DAY_MS } from '../../../../../../lib/meta/value/durations.ts'
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { dropPatch, endPatch, realPatch, scopePatch, trialPatch } from '../../../../../core/src/scopechange.ts'
import { isSame } from '../../../text/same.ts'

/** How long a trial is that the console begins. */
export const TRIAL_DAYS = 7

/** `apply` gives the key a scope without a trial, `real` that of its trial. `drop` drops the scopes that were added. */
export type TrialStep = 'try' | 'apply' | 'real' | 'end' | 'back' | 'drop'

export interface TrialChange {
  /** A JSON patch: a merge patch would keep members of the scope before. */
  patch: readonly object[]
  /** Reports whether a key is as the patch makes it. */
  isDone(live: AccessKey): boolean
}

/** Returns when a trial that begins now ends, in whole seconds. */
export const trialEnd = (now: Date): string =>
  new Date(now.getTime() + TRIAL_DAYS * DAY_MS).toISOString().replace(/\.\d+/, '')

/** Returns the scope that the key has afterwards, or would have by the end of the trial. */
export const scopeAfter = ({ spec, status }: AccessKey, step: TrialStep, advised: Scope | undefined) =>
  ({
    try: advised,
    apply: advised,
    real: spec.scopeTrial?.scope,
    end: spec.scope,
    drop: spec.scope,
    back: status?.formerScope?.scope,
  })[step]

export interface TrialWish {
  step: TrialStep
  /** The smaller scope of the advice. */
  advised?: Scope
  until: string
  /** Makes it real although it would have refused requests. */
  isForced?: boolean
}

/** Returns the change of the version of the key that the person has seen. */
export function trialChange(key: AccessKey, { step, advised, until, isForced = false }: TrialWish): TrialChange {
  const scope = scopeAfter(key, step, advised)
  const isReal = step === 'apply' || step === 'real'
  const patch = isReal ? realPatch(key, scope ?? {}, { isForced }) : PATCHES[step](key, scope, until)
  const trial = step === 'try' ? { scope, until } : undefined
  const isDone = ({ metadata, spec, status }: AccessKey): boolean =>
    metadata.uid === key.metadata.uid &&
    (!(isReal || step === 'back') || isSame(spec.scope, scope)) &&
    (step === 'drop' ? !status?.addedScopes?.length : step === 'back' || isSame(spec.scopeTrial, trial))
  return { patch, isDone }
}

const PATCHES = {
  try: (key: AccessKey, scope: Scope | undefined, until: string) => trialPatch(key, scope ?? {}, until),
  end: endPatch,
  back: scopePatch,
  drop: dropPatch,
}
