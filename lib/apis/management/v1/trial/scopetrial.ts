/** Validates, plans and presents the trial of a scope of an access key or a federated identity credential. */
import { FORMER_SECONDS, type KeyInternal, type TrialInternal } from '../../../../authentication/keyinternal.ts'
import { readMarks, trialKey } from '../../../../authentication/usage/trialitems.ts'
import { validateChain, withScope } from '../../../../authorization/scopes/chain.ts'
import { hasSelfRotate } from '../../../../authorization/scopes/roles.ts'
import type { ScopeChain } from '../../../../authorization/scopes/scope.ts'
import { validateScope } from '../../../../authorization/scopes/validatescope.ts'
import type { KeySpec } from '../../../../authorization/users/identity.ts'
import { addedScopes, effectiveChain } from '../../../../authorization/users/privilege.ts'
import { endlessErrors } from '../../../../authorization/users/selfrotate.ts'
import { KINDS, type KindRow } from '../../../../kinds/kinds.ts'
import { parseTime, rfc3339OfUnix, unixSeconds } from '../../../../meta/encoding/time.ts'
import { type FieldError, invalid, required } from '../../../../meta/errors/fielderror.ts'
import type { StatusError } from '../../../../meta/errors/status.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import { defined } from '../../../../meta/value/defined.ts'
import { DAY_MS } from '../../../../meta/value/durations.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'
import { type Draft, groupResource, type PresentedItems, type RequestContext } from '../../../../registry/kind.ts'
import type { Companion, Stored } from '../../../../storage/interface.ts'
import type { ItemKey } from '../../../../storage/keys.ts'
import type { Services } from '../services.ts'

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

/** The stored object, and what its internal part says of trials. */
interface Before {
  old: Stored
  state: TrialInternal
}

/** What a write makes of a trial, the items to write with it, and its 409: see `planTrial`. */
type TrialChange = Pick<TrialInternal, 'trial' | 'lastTrial' | 'former'> & {
  items: readonly Companion[]
  conflict?: StatusError
  /** Whether the write asks to drop the scopes that were added. */
  drops: boolean
}

/**
 * Returns what a write makes of the trial. Removes from the spec of the draft a trial that is over, and the wish to drop scopes.
 * The usage of keys, and of nothing else, names what a trial would have refused.
 */
export async function changeTrial(
  services: Services,
  kind: KindRow,
  draft: Draft,
  before: Before | undefined,
  { user, now }: Pick<RequestContext, 'user' | 'now'>,
): Promise<TrialChange> {
  const { name = '', uid = '' } = draft.object.metadata
  const { trial, lastTrial, former } = before?.state ?? {}
  const next = (draft.object.spec ?? {}) as KeySpec
  const drops = next.dropAddedScopes === true
  if (!trial && !former && !next.scopeTrial && next.dropAddedScopes === undefined) return { items: [], drops }
  // Most writes concern no trial.
  const { planTrial, withoutField } = await import('./scopetrial.plan.ts')
  const { state, isOver, ...others } = await planTrial({
    before: before?.old.object.spec as KeySpec | undefined,
    next,
    state: defined({ trial, lastTrial, former }),
    name,
    uid,
    now: unixSeconds(now),
    resource: groupResource(kind),
    read: services.sideItem,
    async refused(of) {
      if (!before || kind !== KINDS.OwnedAccessKey) return []
      const { refusedRequests } = await import('../usage/recorded.ts')
      return refusedRequests(before.old, of, user, services)
    },
  })
  if (isOver) draft.object = withoutField(draft.object, 'scopeTrial')
  if (next.dropAddedScopes !== undefined) draft.object = withoutField(draft.object, 'dropAddedScopes')
  return { ...state, ...others, drops }
}

type State = Pick<KeyInternal, 'trial' | 'former' | 'carried' | 'born'>

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
