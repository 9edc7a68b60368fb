/**
 * Decides which administrators may make and change an identity provider. A user who chooses its keys can make ID tokens for
 * every trust that refers to it, for as long as it exists.
 */
import { containsChain, withScope } from '../access/scopes/chain.ts'
import { onlyEnds } from '../access/users/ends.ts'
import { lastingReason } from '../access/users/outliving.ts'
import { unlimitedReason } from '../access/users/sourcecidrs.ts'
import type { UserInfo } from '../access/users/user.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { ProviderSpec } from './identityprovider.schema.ts'
import { specOf } from './identityprovider.values.ts'

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
  if (old && (deepEqual(old, next) || onlyEnds(old, next))) return undefined
  const act = `${old ? 'change' : 'create'} an identity provider`
  const lasting = lastingReason(user, now, act) ?? unlimitedReason(user, act)
  if (lasting !== undefined) return lasting
  return isLimited(user, old ?? next) && isLimited(user, next) ? undefined : BEYOND
}

/** Returns why the user may not change anything of this provider (403), or undefined. All of them may disable it, and nothing else. */
export function forbiddenProviderChange(user: UserInfo, old: KubeObject, next: KubeObject): string | undefined {
  if (isLimited(user, specOf(old)) || (onlyEnds(specOf(old), specOf(next)) && deepEqual(besides(old), besides(next)))) {
    return undefined
  }
  return BEYOND
}

const BEYOND = 'spec.scope: an access key with a scope may write only providers that have this scope'

/** Reports whether the provider has the scopes of the user. Otherwise exchanged keys would lack those of the key that wrote it. */
const isLimited = (user: UserInfo, { scope }: ProviderSpec): boolean => containsChain(withScope([], scope), user.chain)

/** Returns what a change of the spec leaves as it is. */
const besides = ({ metadata: { generation: _, managedFields: __, ...metadata }, status }: KubeObject) => ({
  metadata,
  status,
})
