/** Begins, continues and ends the trial of a scope with a write of its key, and makes it real. */
import { FORMER_SECONDS, type KeyInternal } from '../../../../authentication/keyinternal.ts'
import { readMarks, SEEN, startOfTrial, trialKey } from '../../../../authentication/usage/trialitems.ts'
import type { Scope } from '../../../../authorization/scopes/scope.ts'
import type { KeySpec } from '../../../../authorization/users/identity.ts'
import { parseTime, unixSeconds } from '../../../../meta/encoding/time.ts'
import { conflict, StatusError } from '../../../../meta/errors/status.ts'
import { disown } from '../../../../meta/managedfields/managedfields.ts'
import type { GroupResource, JsonObject, KubeObject } from '../../../../meta/types.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'
import type { Companion } from '../../../../storage/interface.ts'
import type { ItemKey } from '../../../../storage/keys.ts'

type Tried = Pick<KeySpec, 'scope' | 'scopeTrial'>
type State = Pick<KeyInternal, 'trial' | 'lastTrial' | 'former'>

interface Change {
  /** Undefined for a create. */
  before: Tried | undefined
  next: Tried
  state: State
  name: string
  uid: string
  /** Unix seconds. */
  now: number
  resource: GroupResource
  /** Reads a side item. */
  read(key: ItemKey): Promise<JsonObject | undefined>
  /** Returns the requests that the trial would have refused, as far as the user may know them. */
  refused(trial: NonNullable<State['trial']>): Promise<string[]>
}

interface TrialPlan {
  state: State
  /** Whether spec.scopeTrial is to be removed: its scope is that of the key. */
  isOver: boolean
  items: Companion[]
  /** The 409 of a write that makes a scope real that would have refused requests. Answer it only who may make the write. */
  conflict?: StatusError
}

/**
 * Returns what a write makes of the trial. The item of the trial is a condition of a write that makes its scope real, so a refusal
 * that is recorded meanwhile counts.
 */
export async function planTrial({
  before,
  next,
  state,
  name,
  uid,
  now,
  resource,
  read,
  refused,
}: Change): Promise<TrialPlan> {
  const { trial, lastTrial } = state
  const tried = before?.scopeTrial
  const asked = next.scopeTrial
  const former = keptFormer(state, next.scope, now)
  const replaced: State = { former: { ...(before?.scope && { scope: before.scope }), at: now } }
  const end = (when?: Extract<Companion, { op: 'delete' }>['when']): Companion[] =>
    trial ? [{ op: 'delete', ...trialKey(trial.uid, trial.since), ...(when && { when }) }] : []
  const begin = (scopeTrial: NonNullable<Tried['scopeTrial']>, kept: State): TrialPlan => {
    // Two trials have two items: what a process has written for one, it would not write for the other.
    const since = Math.max(now, (trial?.since ?? lastTrial ?? 0) + 1)
    const put: Companion = { op: 'put', ...trialKey(uid, since), attributes: startOfTrial(endOf(scopeTrial)) }
    return { state: { ...kept, trial: { uid, since } }, isOver: false, items: [put] }
  }
  const isNew = asked?.scope !== undefined && !isSame(asked.scope, next.scope)
  const isReal = tried?.scope && isSame(next.scope, tried.scope) && !isSame(before?.scope, tried.scope)
  if (isReal && trial) {
    const item = await read(trialKey(trial.uid, trial.since))
    const isRefused = item?.[SEEN] === true && asked?.force !== true
    const conflict = isRefused ? refusing(resource, name, item, await refused(trial)) : undefined
    const ended = end(item && !asked?.force ? { lacks: [SEEN] } : undefined)
    const made = { lastTrial: trial.since, ...replaced }
    const plan = isNew ? begin(asked, made) : { state: made, isOver: true, items: [] }
    return { ...plan, items: [...ended, ...plan.items], ...(conflict && { conflict }) }
  }
  if (!isNew) {
    // Who sets both at once makes the scope real without a trial.
    const isAtOnce = asked?.scope !== undefined && before !== undefined && !isSame(before.scope, next.scope)
    const state = { ...(trial && { lastTrial: trial.since }), ...(isAtOnce ? replaced : former) }
    return { state, isOver: asked?.scope !== undefined, items: end() }
  }
  if (trial && isSame(tried?.scope, asked.scope)) {
    const attributes = startOfTrial(endOf(asked))
    const items: Companion[] =
      tried?.until === asked.until ? [] : [{ op: 'set', ...trialKey(trial.uid, trial.since), attributes }]
    return { state: { trial, ...former }, isOver: false, items }
  }
  const plan = begin(asked, { ...former })
  return { ...plan, items: [...end(), ...plan.items] }
}

/** Returns the object without a field of its spec, which nobody owns then. */
export function withoutField({ metadata, spec = {}, ...object }: KubeObject, field: string): KubeObject {
  const { [field]: _, ...rest } = spec
  const { managedFields, ...others } = metadata
  const disowned = managedFields && { managedFields: disown(managedFields, 'spec', field) }
  return { ...object, metadata: { ...others, ...disowned }, spec: rest }
}

/** Returns when a trial ends, in unix seconds. Validation refuses one without a time. */
const endOf = ({ until = '' }: NonNullable<Tried['scopeTrial']>): number => unixSeconds(parseTime(until) ?? new Date(0))

const isSame = (one: Scope | undefined, other: Scope | undefined): boolean => deepEqual(one ?? null, other ?? null)

/** Returns the former scope while it is kept and has not been put back. */
function keptFormer({ former }: State, scope: Scope | undefined, now: number): Pick<State, 'former'> {
  return former && now < former.at + FORMER_SECONDS && !isSame(former.scope, scope) ? { former } : {}
}

/** How many requests a refusal names. */
const MOST_NAMED = 10

function refusing(resource: GroupResource, name: string, item: JsonObject, named: readonly string[]): StatusError {
  const { refusals, lastRefused } = readMarks(item)
  const shown = named.slice(0, MOST_NAMED)
  const rest = refusals - shown.length
  const others = `${rest} ${shown.length > 0 ? 'more ' : ''}${rest === 1 ? 'kind' : 'kinds'} of requests (${lastRefused})`
  const causes = [...shown, ...(rest > 0 ? [others] : [])].map((message) => ({
    reason: 'ScopeTrialRefused',
    field: 'spec.scopeTrial',
    message,
  }))
  const why = 'the scope of spec.scopeTrial would have refused requests; set spec.scopeTrial.force to make it real'
  const { status } = conflict(resource, name, why)
  return new StatusError({ ...status, details: { ...status.details, causes } })
}
