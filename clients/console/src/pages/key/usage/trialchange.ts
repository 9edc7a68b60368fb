/** Makes the patches that begin a trial of a scope, end it, make it real and put the former scope back. */
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { ApiError } from '../../../api/status.ts'
import { isSame } from '../../../text/same.ts'
import { DAY_MS } from '../../../text/times.ts'

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
  const { uid, resourceVersion } = key.metadata
  const scope = scopeAfter(key, step, advised)
  const trial = step === 'try' ? { scope, until } : undefined
  const isReal = step === 'apply' || step === 'real'
  const isScope = isReal || step === 'back'
  const patch = [
    { op: 'replace', path: '/metadata/uid', value: uid },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ...(isScope ? setting('/spec/scope', scope, key.spec.scope) : []),
    // The server removes a trial of the scope that the key has, and keeps the former scope.
    ...(isReal
      ? [{ op: 'add', path: '/spec/scopeTrial', value: { scope, ...(isForced && { force: true }) } }]
      : step === 'back'
        ? []
        : step === 'drop'
          ? [{ op: 'add', path: '/spec/dropAddedScopes', value: true }]
          : setting('/spec/scopeTrial', trial, key.spec.scopeTrial)),
  ]
  const isDone = ({ metadata, spec, status }: AccessKey): boolean =>
    metadata.uid === uid &&
    (!isScope || isSame(spec.scope, scope)) &&
    (step === 'drop' ? !status?.addedScopes?.length : step === 'back' || isSame(spec.scopeTrial, trial))
  return { patch, isDone }
}

const setting = (path: string, value: object | undefined, before: object | undefined): object[] =>
  value ? [{ op: 'add', path, value }] : before ? [{ op: 'remove', path }] : []

/** Returns the requests that the trial would have refused, if they are why the server refuses to make it real. Otherwise undefined. */
export function refusedRequests(error: unknown): string[] | undefined {
  if (!(error instanceof ApiError) || error.code !== 409) return undefined
  const causes = error.status.details?.causes ?? []
  if (!causes.some(({ reason }) => reason === 'ScopeTrialRefused')) return undefined
  return causes.map(({ message = '' }) => message)
}
