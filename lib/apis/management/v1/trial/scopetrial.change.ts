/** Applies the plan of a trial to the draft of what has the scope: an access key, or a federated identity credential. */
import type { TrialInternal } from '../../../../authentication/keyinternal.ts'
import type { KeySpec } from '../../../../authorization/users/identity.ts'
import { KINDS, type KindRow } from '../../../../kinds/kinds.ts'
import { unixSeconds } from '../../../../meta/encoding/time.ts'
import type { StatusError } from '../../../../meta/errors/status.ts'
import { defined } from '../../../../meta/value/defined.ts'
import { type Draft, groupResource, type RequestContext } from '../../../../registry/kind.ts'
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
