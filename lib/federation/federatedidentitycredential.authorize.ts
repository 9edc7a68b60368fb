/**
 * Decides who may make and change a federated identity credential, called trust in code. A trust makes keys for as long as
 * it exists. So the rules for keys apply, and a user whose own key expires, or is limited to addresses, may not make one.
 */
import { onlyEnds } from '../access/users/ends.ts'
import { isMaster } from '../access/users/identity.ts'
import { lastingReason } from '../access/users/outliving.ts'
import { forbiddenChange, forbiddenCreation } from '../access/users/privilege.ts'
import { unlimitedReason } from '../access/users/sourcecidrs.ts'
import type { UserInfo } from '../access/users/user.ts'
import { parseTime } from '../engine/meta/encoding/time.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { Stored } from '../engine/storage/interface.ts'
import type { TrustSpec } from './federatedidentitycredential.schema.ts'
import { keySpecOf, specOf, toKey } from './federatedidentitycredential.values.ts'

const noun = 'federated identity credential'

/** Returns why the user may not make this trust now (403), or undefined. */
export const forbiddenTrust = (user: UserInfo, spec: TrustSpec, now: Date): string | undefined =>
  lastingReason(user, now, `create a ${noun}`) ??
  unlimitedReason(user, `create a ${noun}`) ??
  mappingReason(user, spec) ??
  forbiddenCreation(user, keySpecOf(spec), { now })

/** Returns why the user may not change this trust to `next` now (403), or undefined. Everyone who sees it may disable it. */
export function forbiddenTrustChange(user: UserInfo, old: Stored, next: TrustSpec, now: Date): string | undefined {
  const before = specOf(old.object)
  if (deepEqual(before, next)) return undefined
  const act = `change a ${noun}`
  const lasting = onlyEnds(before, next) ? undefined : (lastingReason(user, now, act) ?? unlimitedReason(user, act))
  const created = Math.floor((parseTime(old.object.metadata.creationTimestamp ?? '')?.getTime() ?? 0) / 1000)
  return (
    lasting ??
    mappingReason(user, next) ??
    forbiddenChange(user, toKey(old), keySpecOf(next), { now, created, isRotated: false, noun })
  )
}

/** Returns why the user may not map claims, or undefined. The mapping decides which user a person becomes. */
const mappingReason = (user: UserInfo, { claimMappings }: TrustSpec): string | undefined =>
  claimMappings && !(isMaster(user) && user.chain.length === 0)
    ? 'spec.claimMappings: only system:masters without a scope may create or change them'
    : undefined
