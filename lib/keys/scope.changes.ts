/** Keeps what a change of the scope of an access key or a trust replaces, and drops the scopes that such changes have added. */

import { isSameScope } from '../access/scopes/chain.ts'
import type { Scope } from '../access/scopes/scope.ts'
import type { KeySpec } from '../access/users/identity.ts'
import { addedScopes } from '../access/users/privilege.ts'
import { rfc3339OfUnix, unixSeconds } from '../engine/meta/encoding/time.ts'
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { disown } from '../engine/meta/managedfields/managedfields.ts'
import type { JsonObject, KubeObject } from '../engine/meta/types.ts'
import { FORMER_SECONDS, type FormerScope, type KeyInternal } from './credential/keyinternal.ts'

/**
 * Returns the former scope to store with a change of the spec: the scope that the change replaces or, if the scope stays, the one that
 * is kept already. A chain of scopes has at most 4 KiB, and so has this.
 */
export function formerAfter(
  former: FormerScope | undefined,
  { before, next }: { before: Scope | undefined; next: Scope | undefined },
  now: Date,
): FormerScope | undefined {
  if (!isSameScope(before, next)) return { ...(before && { scope: before }), at: unixSeconds(now) }
  return former && isKept(former, now) ? former : undefined
}

const endOf = ({ at }: FormerScope): number => at + FORMER_SECONDS

const isKept = (former: FormerScope, now: Date): boolean => unixSeconds(now) < endOf(former)

/** Returns the object without the wish to drop the added scopes, also in what its managers own, and whether the wish was true. */
export function takeDrop(asked: KubeObject): { object: KubeObject; drops: boolean } {
  const { metadata, spec = {}, ...object } = asked
  const { dropAddedScopes, ...rest } = spec
  if (dropAddedScopes === undefined) return { object: asked, drops: false }
  // An exchange has no managers.
  const { managedFields, ...others } = metadata
  const disowned = managedFields && { managedFields: disown(managedFields, 'spec', 'dropAddedScopes') }
  return { object: { ...object, metadata: { ...others, ...disowned }, spec: rest }, drops: dropAddedScopes === true }
}

/** Returns the 422 errors of a write that drops the scopes that were added: it must be an update that changes nothing else. */
export const validateDrop = (drops: boolean, changesMore: boolean): FieldError[] =>
  drops && changesMore
    ? [invalid('spec.dropAddedScopes', true, 'may be true only in an update that changes nothing else')]
    : []

/** Returns the members of the status. */
export function presentScopeChanges(
  spec: Pick<KeySpec, 'scope'>,
  state: Pick<KeyInternal, 'former' | 'carried' | 'born'>,
  now: Date,
): JsonObject {
  const { former } = state
  const added = addedScopes({ ...state, spec }) as JsonObject[]
  return {
    ...(former && isKept(former, now) && { formerScope: presentFormer(former) }),
    ...(added.length > 0 && { addedScopes: added }),
  }
}

const presentFormer = (former: FormerScope): JsonObject => ({
  ...(former.scope && { scope: former.scope as JsonObject }),
  replaced: rfc3339OfUnix(former.at),
  until: rfc3339OfUnix(endOf(former)),
})
