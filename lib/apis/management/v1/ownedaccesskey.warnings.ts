/**
 * Warns the user who creates or changes an access key when nothing limits it, or less than before, or when it is enabled after a
 * leak and gives no access, or perhaps access to others.
 */

import { decodeKeyInternal, type KeyInternal } from '../../../authentication/keyinternal.ts'
import { expiryOf, type LifeLimits, lifeOf, REQUEST_SECONDS } from '../../../authentication/keystatus.ts'
import type { ScopeOptions } from '../../../authorization/scopes/project.ts'
import { ruleWarnings } from '../../../authorization/scopes/replaceablerules.ts'
import { isUnrestricted } from '../../../authorization/scopes/unrestricted.ts'
import { effectiveUser, identityOf, type KeySpec } from '../../../authorization/users/identity.ts'
import { addedScopes, effectiveChain, isUserType } from '../../../authorization/users/privilege.ts'
import { rightWarnings } from '../../../authorization/users/reviewright.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { deepEqual } from '../../../meta/value/equal.ts'
import type { Stored } from '../../../storage/interface.ts'
import { specOf, toKey } from './ownedaccesskey.values.ts'

type WrittenKey = Pick<Stored, 'object' | 'internal'>

/** The members that restrict what a key may do, and whose absence allows more. */
const RESTRICTIONS: Readonly<Record<string, (spec: KeySpec) => boolean>> = {
  'spec.scope': ({ scope }) => scope !== undefined,
  'spec.sourceCIDRs': ({ sourceCIDRs }) => !!sourceCIDRs?.length,
}
const EXPIRY = { 'spec.ttl': ({ ttl }: KeySpec) => !!ttl }

/** Returns the warnings for a key that the user creates, or changes from `old`. */
export function writeWarnings(
  key: WrittenKey,
  old: WrittenKey | undefined,
  { user, limits, scopes }: { user: UserInfo; limits: LifeLimits; scopes: ScopeOptions },
): string[] {
  const { name = '' } = key.object.metadata
  const isLesser = hasFewerRights(key, user)
  const removed = Object.entries({ ...RESTRICTIONS, ...(!isLesser && EXPIRY) }).filter(
    ([, has]) => old !== undefined && has(specOf(old.object)) && !has(specOf(key.object)),
  )
  const warnings = removed.map(([member]) => `access key "${name}" is no longer restricted by ${member}`)
  const { scope } = specOf(key.object)
  if (!old || !deepEqual(specOf(old.object).scope, scope)) {
    warnings.push(...rightWarnings(`access key "${name}"`, scope, decodeKeyInternal(key.internal)))
    const added = addedScopes(toKey(key)).length
    if (added > 0 && old) warnings.push(addedWarning(`access key "${name}"`, added))
  }
  warnings.push(...changedRuleWarnings(specOf(key.object), old && specOf(old.object), scopes))
  if (old && isEnabled(key, old)) warnings.push(...leakWarnings(name, decodeKeyInternal(key.internal)))
  if (!isUnlimited(key, limits) || (old && isUnlimited(old, limits)) || isLesser) return warnings
  return [
    ...warnings,
    `access key "${name}" never expires and has all permissions of ${effectiveUser(toKey(key)).name}`,
  ]
}

/** Returns the warnings for the rules in the scope and in its trial, if they are new. */
export const changedRuleWarnings = (
  { scope, scopeTrial }: Pick<KeySpec, 'scope' | 'scopeTrial'>,
  old: Pick<KeySpec, 'scope' | 'scopeTrial'> | undefined,
  options: ScopeOptions,
): string[] => [
  ...(deepEqual(scope, old?.scope) ? [] : ruleWarnings(scope, options)),
  ...(deepEqual(scopeTrial?.scope, old?.scopeTrial?.scope)
    ? []
    : ruleWarnings(scopeTrial?.scope, options, 'spec.scopeTrial.scope')),
]

/** Returns the warning that scopes limit an object besides the one that was set. */
export const addedWarning = (what: string, count: number): string =>
  `${what} is also limited by ${count === 1 ? 'a scope' : `${count} scopes`} that changes with scoped access keys have added: status.addedScopes`

/** Reports whether the key is the user's own and lacks a group of theirs, such as system:masters. */
function hasFewerRights(key: WrittenKey, user: UserInfo): boolean {
  const { identity, groups } = effectiveUser(toKey(key))
  return identity === identityOf(user) && user.groups.some((group) => !groups.includes(group))
}

const isEnabled = (key: WrittenKey, old: WrittenKey): boolean =>
  specOf(old.object).disabled === true && specOf(key.object).disabled !== true

/**
 * Returns the warnings for a key that is enabled although its value has leaked: if it has no other, or if it has one from before
 * the report, which a holder of the leaked value may have made.
 */
function leakWarnings(name: string, { ended, pending, tokensNotBefore = 0 }: KeyInternal): string[] {
  if (ended === undefined) return []
  const leaked = `the value of access key "${name}" was reported as leaked`
  if (pending === undefined) return [`${leaked} and gives no access: rotate the key`]
  // A value that was made after the report has a later second.
  if (pending.made > tokensNotBefore - REQUEST_SECONDS) return []
  return [`${leaked}, and its pending value is older than the report: replace it unless you know who made it`]
}

/** Reports whether the key has no end, and no scope limits it. The service itself manages keys of other types. */
const isUnlimited = (key: WrittenKey, limits: LifeLimits): boolean =>
  isUserType(specOf(key.object).type) &&
  expiryOf(lifeOf(key.object), limits) === undefined &&
  effectiveChain(toKey(key)).every(isUnrestricted)
