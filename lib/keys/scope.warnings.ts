/** Warns the user who writes a key or a trust about its scopes. */
import { isSameScope } from '../access/scopes/chain.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import { ruleWarnings } from '../access/scopes/replaceablerules.ts'
import type { KeySpec } from '../access/users/identity.ts'

/** Returns the warnings for the rules in the scope, if it is new. */
export const changedRuleWarnings = (
  { scope }: Pick<KeySpec, 'scope'>,
  old: Pick<KeySpec, 'scope'> | undefined,
  options: ScopeOptions,
): string[] => (isSameScope(scope, old?.scope) ? [] : ruleWarnings(scope, options))

/** Returns the warning that scopes limit an object besides the one that was set. */
export const addedWarning = (what: string, count: number): string =>
  `${what} is also limited by ${count === 1 ? 'a scope' : `${count} scopes`} that changes with scoped access keys have added: status.addedScopes`
