/** Presents the trial of a scope, and the scope before one was made real. */
import { keptSince, positionKey } from '../../../../authentication/history/since.ts'
import type { KeyInternal } from '../../../../authentication/keyinternal.ts'
import { readTrial, trialKey } from '../../../../authentication/usage/trialitems.ts'
import type { KeySpec } from '../../../../authorization/users/identity.ts'
import { parseTime, rfc3339OfUnix } from '../../../../meta/encoding/time.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import type { PresentedItems } from '../../../../registry/kind.ts'
import type { ItemKey } from '../../../../storage/keys.ts'

/** How long a former scope is kept. */
export const FORMER_SECONDS = 30 * 86_400

type State = Pick<KeyInternal, 'trial' | 'former'>

/** Returns the item of the trial. */
export const trialItems = ({ trial }: State): ItemKey[] => (trial ? [trialKey(trial.uid, trial.since)] : [])

/** Returns what reads need: the item of the trial, and since when no release has run that knows no trials. */
export const itemsToPresentTrial = (state: State): ItemKey[] => (state.trial ? [...trialItems(state), positionKey] : [])

/** Returns the members of the status. The response of a write has no `items`, and so no requests. */
export function presentTrial(
  { scopeTrial }: Pick<KeySpec, 'scopeTrial'>,
  state: State,
  now: Date,
  items?: PresentedItems,
): JsonObject {
  return { ...(scopeTrial && runningOrEnded(scopeTrial, state, now, items)), ...presentFormer(state, now) }
}

function runningOrEnded(
  { until = '' }: NonNullable<KeySpec['scopeTrial']>,
  { trial }: State,
  now: Date,
  items: PresentedItems | undefined,
): JsonObject {
  if (!trial) return {}
  const isRunning = now < (parseTime(until) ?? new Date(0))
  const { refused, hasMore } = readTrial(items?.(trialKey(trial.uid, trial.since)))
  // A release that keeps no history knows no trials either.
  const position = items?.(positionKey)
  const kept = position ? keptSince({ attributes: position }) : 0
  const isWhole = !hasMore && kept !== undefined && kept <= trial.since
  const shown = refused.map(({ day, ...refusal }) => ({ ...refusal, lastSeen: day })) as unknown as JsonObject[]
  return {
    scopeTrial: {
      since: rfc3339OfUnix(trial.since),
      until,
      phase: isRunning ? 'Running' : 'Ended',
      ...(items && { refused: shown, complete: isWhole }),
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
