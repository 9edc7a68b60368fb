/** Computes what an exchange grants: the lifetime of the access key and its scopes. */
import { extendChain, validateChain } from '../../access/scopes/chain.ts'
import { givesReviews, type RoleEntry } from '../../access/scopes/roles.ts'
import type { Scope, ScopeChain } from '../../access/scopes/scope.ts'
import type { Provider } from '../provider.ts'
import { DEFAULT_TTL, type Trust } from '../trust.ts'
import { invalidScope } from './requestedscope.ts'

/** Maximum lifetimes of the deployment in seconds. `key` is 0 if there is none for all keys. */
interface GrantLimits {
  exchange: number
  key: number
}

export interface Grant {
  /** Seconds. */
  ttl: number
  /** Scopes that the key inherits. */
  carried: ScopeChain
  /** The scope of the key itself. */
  scope?: Scope
}

/**
 * Returns the grant of a trust. Every maximum shortens it, and every scope narrows it. Throws invalid_scope if the scopes
 * together exceed the limits of a chain, or if the request asks for a role that the trust does not have.
 */
export function grantOf(trust: Trust, provider: Provider, asked: Scope | undefined, limits: GrantLimits): Grant {
  const { ttl = DEFAULT_TTL, scope: granted } = trust.spec
  const { maxTTL = limits.exchange, scope: ceiling } = provider.spec
  const all = [ceiling, ...trust.carried, granted].filter((one) => one !== undefined)
  const scope = asked === undefined ? granted : narrowed(asked, all)
  const carried = asked === undefined ? [ceiling, ...trust.carried].filter((one) => one !== undefined) : all
  if (validateChain(extendChain(carried, scope ? [scope] : [])).length > 0)
    throw invalidScope('the scopes of the provider, the trust and this request are together too many or too long')
  return {
    ttl: Math.min(Number(ttl), Number(maxTTL), limits.exchange, limits.key || Number.POSITIVE_INFINITY),
    carried: extendChain(carried, []),
    ...(scope && { scope }),
  }
}

/**
 * Returns the scope that a request asks for, with the roles that give reviews as the scopes above it have them: all else in a
 * scope only restricts.
 */
function narrowed({ roles, ...asked }: Scope, above: ScopeChain): Scope {
  const held = above.flatMap((scope) => scope.roles ?? [])
  const entriesOf = (entry: RoleEntry): readonly RoleEntry[] => {
    if (!givesReviews(entry)) return [entry]
    const entries = held.filter(({ role }) => role === entry.role)
    if (entries.length > 0) return entries
    throw invalidScope(
      `role:${entry.role} would allow more than the trust does: the scope of the trust must have the role`,
    )
  }
  return { ...asked, ...(roles && { roles: roles.flatMap(entriesOf) }) }
}
