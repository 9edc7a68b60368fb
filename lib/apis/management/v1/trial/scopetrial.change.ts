/** Applies the plan of a trial to the draft of what has the scope: an access key, or a federated identity credential. */
import type { TrialInternal } from '../../../../authentication/keyinternal.ts'
import type { KeySpec } from '../../../../authorization/users/identity.ts'
import type { KindRow } from '../../../../kinds/kinds.ts'
import type { StatusError } from '../../../../meta/errors/status.ts'
import { defined } from '../../../../meta/value/defined.ts'
import { type Draft, groupResource } from '../../../../registry/kind.ts'
import type { Companion, Stored } from '../../../../storage/interface.ts'
import type { Services } from '../services.ts'

/** The stored object, and what its internal part says of trials. */
interface Before {
  old: Stored
  state: TrialInternal
}

/** What a write makes of a trial, the items to write with it, and its 409: see `planTrial`. */
type TrialChange = Pick<TrialInternal, 'trial' | 'lastTrial' | 'former'> & {
  items: readonly Companion[]
  conflict?: StatusError
}

/** Returns what a write at `now` (unix seconds) makes of the trial. Removes a trial from the spec of the draft that is over. */
export async function changeTrial(
  { sideItem }: Pick<Services, 'sideItem'>,
  kind: KindRow,
  draft: Draft,
  before: Before | undefined,
  now: number,
): Promise<TrialChange> {
  const { name = '', uid = '' } = draft.object.metadata
  const { trial, lastTrial, former } = before?.state ?? {}
  const next = (draft.object.spec ?? {}) as KeySpec
  if (!trial && !former && !next.scopeTrial) return { items: [] }
  // Most writes concern no trial.
  const { planTrial, withoutTrial } = await import('./scopetrial.plan.ts')
  const { state, isOver, ...others } = await planTrial({
    before: before?.old.object.spec as KeySpec | undefined,
    next,
    state: defined({ trial, lastTrial, former }),
    name,
    uid,
    now,
    resource: groupResource(kind),
    read: sideItem,
  })
  if (isOver) draft.object = withoutTrial(draft.object)
  return { ...state, ...others }
}
