/** Presents the trial of a scope, the scope before one was made real, and the scopes that were added to the inherited ones. */
import type { KeyInternal } from '../../../../authentication/keyinternal.ts'
import { readMarks, trialKey } from '../../../../authentication/usage/trialitems.ts'
import type { KeySpec } from '../../../../authorization/users/identity.ts'
import { addedScopes } from '../../../../authorization/users/privilege.ts'
import { parseTime, rfc3339OfUnix } from '../../../../meta/encoding/time.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import type { PresentedItems } from '../../../../registry/kind.ts'
import type { ItemKey } from '../../../../storage/keys.ts'

/** How long a former scope is kept. */
export const FORMER_SECONDS = 30 * 86_400

type State = Pick<KeyInternal, 'trial' | 'former' | 'carried' | 'born'>

/** Returns the item of the trial. */
export const trialItems = ({ trial }: Pick<State, 'trial'>): ItemKey[] =>
  trial ? [trialKey(trial.uid, trial.since)] : []

/** Returns the members of the status. The response of a write has no `items`, and so counts no refusals. */
export function presentTrial(
  spec: Pick<KeySpec, 'scope' | 'scopeTrial'>,
  state: State,
  now: Date,
  items?: PresentedItems,
): JsonObject {
  const added = addedScopes({ ...state, spec }) as JsonObject[]
  return {
    ...(spec.scopeTrial && runningOrEnded(spec.scopeTrial, state, now, items)),
    ...presentFormer(state, now),
    ...(added.length > 0 && { addedScopes: added }),
  }
}

function runningOrEnded(
  { until = '' }: NonNullable<KeySpec['scopeTrial']>,
  { trial }: State,
  now: Date,
  items: PresentedItems | undefined,
): JsonObject {
  if (!trial) return {}
  const isRunning = now < (parseTime(until) ?? new Date(0))
  return {
    scopeTrial: {
      since: rfc3339OfUnix(trial.since),
      until,
      phase: isRunning ? 'Running' : 'Ended',
      ...(items && readMarks(items(trialKey(trial.uid, trial.since)))),
    },
  }
}

function presentFormer({ former }: State, now: Date): JsonObject {
  if (!former) return {}
  const { scope, at } = former
  const until = at + FORMER_SECONDS
  if (now.getTime() >= until * 1000) return {}
  const times = { replaced: rfc3339OfUnix(at), until: rfc3339OfUnix(until) }
  return { formerScope: { ...(scope && { scope: scope as JsonObject }), ...times } }
}
