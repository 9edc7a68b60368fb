/**
 * Prevents a key that may be used only from some addresses from leaving behind access from others: with another key, with
 * the value of one, or with an object that makes keys. This applies to system:masters too.
 */
import { deepEqual } from '../../meta/value/equal.ts'
import type { KeySpec } from './identity.ts'
import { containsCIDRs } from './sourcecidrs.ts'
import type { UserInfo } from './user.ts'

const limited = 'the access key used is limited to source addresses and may not'

/** Returns why the user may not create this key (403), or undefined. */
export const beyondSourcesCreation = (user: UserInfo, spec: KeySpec): string | undefined =>
  isWithinSources(user, spec)
    ? undefined
    : `spec.sourceCIDRs: ${limited} create one that can be used from other addresses`

/**
 * Returns why the user may not change this key to `next` (403), or undefined. All addresses of the key must be among the
 * user's, before and after. The user may still disable any key.
 */
export function beyondSourcesChange(
  user: UserInfo,
  old: KeySpec,
  next: KeySpec,
  { isRotated, noun = 'access key' }: { isRotated: boolean; noun?: string | undefined },
): string | undefined {
  const isContained = isWithinSources(user, old) && isWithinSources(user, next)
  if (isContained || (!isRotated && onlyDisables(old, next))) return undefined
  return `${limited} change ${noun === 'access key' ? 'an' : 'a'} ${noun} that can be used from other addresses`
}

/** Returns why the user may not `act` on an object that makes keys without `spec.sourceCIDRs` (403), or undefined. */
export const unlimitedReason = ({ sourceCIDRs }: UserInfo, act: string): string | undefined =>
  sourceCIDRs === undefined ? undefined : `${limited} ${act}, whose keys could be used from other addresses`

/** Returns the warnings about a credential for a cluster, which does not tell from where it is used. */
export const unlimitedCredential = ({ sourceCIDRs }: UserInfo, credential: string): string[] =>
  sourceCIDRs === undefined ? [] : [`the ${credential} is not limited to spec.sourceCIDRs`]

/** Reports whether a change lets the key be used from addresses that it could not be used from before. */
export const widensSources = (old: KeySpec, next: KeySpec): boolean => !contains(old.sourceCIDRs, next.sourceCIDRs)

const isWithinSources = (user: UserInfo, { sourceCIDRs }: KeySpec): boolean => contains(user.sourceCIDRs, sourceCIDRs)

/** An absent or empty list does not limit a key. */
const contains = (outer: readonly string[] = [], inner: readonly string[] = []): boolean =>
  outer.length === 0 || (inner.length > 0 && containsCIDRs(outer, inner))

const onlyDisables = ({ disabled: _, ...old }: KeySpec, { disabled, ...next }: KeySpec): boolean =>
  disabled === true && deepEqual(old, next)
