/**
 * Decides which administrators may make and change an identity provider. A user who chooses its keys can make ID tokens for
 * every trust that refers to it, for as long as it exists.
 */
import { containsChain, withScope } from '../../../../authorization/scopes/chain.ts'
import { lastingReason } from '../../../../authorization/users/outliving.ts'
import { unlimitedReason } from '../../../../authorization/users/sources.ts'
import type { UserInfo } from '../../../../authorization/users/user.ts'
import type { ProviderSpec } from '../../../../federation/identityprovider.schema.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'
import { onlyDisables } from './gates.ts'

/**
 * Returns why the user may not make this provider, or change it to `next`, now (403), or undefined. All of them may disable
 * it.
 */
export function forbiddenProvider(
  user: UserInfo,
  old: ProviderSpec | undefined,
  next: ProviderSpec,
  now: Date,
): string | undefined {
  if (old && (deepEqual(old, next) || onlyDisables(old, next))) return undefined
  const act = `${old ? 'change' : 'create'} an identity provider`
  const lasting = lastingReason(user, now, act) ?? unlimitedReason(user, act)
  if (lasting !== undefined) return lasting
  // Otherwise exchanged keys would lack the scopes of the key that wrote the provider.
  const isLimited = [old ?? next, next].every(({ scope }) => containsChain(withScope([], scope), user.chain))
  return isLimited ? undefined : 'spec.scope: an access key with a scope may write only providers that have this scope'
}
