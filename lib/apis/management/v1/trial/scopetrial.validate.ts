/** Validates the trial of a scope beyond its schema. */
import { validateChain, withScope } from '../../../../authorization/scopes/chain.ts'
import { hasSelfRotate } from '../../../../authorization/scopes/roles.ts'
import type { ScopeChain } from '../../../../authorization/scopes/scope.ts'
import { validateScope } from '../../../../authorization/scopes/validatescope.ts'
import type { KeySpec } from '../../../../authorization/users/identity.ts'
import { effectiveChain } from '../../../../authorization/users/privilege.ts'
import { endlessErrors } from '../../../../authorization/users/selfrotate.ts'
import { parseTime } from '../../../../meta/encoding/time.ts'
import { type FieldError, invalid, required } from '../../../../meta/errors/fielderror.ts'
import { DAY_MS } from '../../../../meta/value/durations.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'

const PATH = 'spec.scopeTrial'
const MOST_DAYS = 90

/**
 * Returns the 422 errors of a trial that a write sets or changes. One that stays is not judged again: it may have ended. A write that
 * makes the scope real has none.
 */
export function validateTrial(
  { scopeTrial, ...key }: KeySpec,
  old: KeySpec['scopeTrial'],
  { carried, now }: { carried: ScopeChain; now: Date },
): FieldError[] {
  if (!scopeTrial) return []
  const { scope, until, force } = scopeTrial
  const errors: FieldError[] = []
  if (!scope) errors.push(required(`${PATH}.scope`))
  if (!until) errors.push(required(`${PATH}.until`))
  if (force) {
    const why = 'may be true only with spec.scope set to the scope of the trial'
    errors.push(invalid(`${PATH}.force`, true, why))
  }
  if (scope && !deepEqual(scope, old?.scope ?? null)) {
    errors.push(
      ...validateScope(scope, `${PATH}.scope`),
      // The present scope may stay in the chain when the tried one is made real.
      ...validateChain(withScope(effectiveChain({ spec: key, carried }), scope), `${PATH}.scope`),
      ...(hasSelfRotate(scope) ? endlessErrors(key) : []),
    )
  }
  if (until && until !== old?.until) errors.push(...endErrors(until, now))
  return errors
}

/** Returns the 422 errors of a write that drops the scopes that were added: it must be an update that changes nothing else. */
export const validateDrop = (drops: boolean, changesMore: boolean): FieldError[] =>
  drops && changesMore
    ? [invalid('spec.dropAddedScopes', true, 'may be true only in an update that changes nothing else')]
    : []

function endErrors(until: string, now: Date): FieldError[] {
  const left = (parseTime(until)?.getTime() ?? Number.NaN) - now.getTime()
  if (left > 0 && left <= MOST_DAYS * DAY_MS) return []
  return [invalid(`${PATH}.until`, until, `must be in the future, and at most ${MOST_DAYS} days ahead`)]
}
