/**
 * Builds, compares and validates chains of scopes, which keys and tokens inherit from the keys that created them.
 * Scopes are compared as a whole, without set arithmetic. A chain only grows, so a key's scope can narrow access but
 * never widen it.
 */

import { stringify } from '../../engine/meta/encoding/json.ts'
import { type FieldError, tooLong, tooMany } from '../../engine/meta/errors/fielderror.ts'
import { deepEqual } from '../../engine/meta/value/equal.ts'
import type { Scope, ScopeChain } from './scope.ts'

/** These limits keep every chain within the authorizer's context, and a JWT within a header. */
export const MAX_CHAIN_BYTES = 4096
export const MAX_CHAIN_SCOPES = 8

/** Returns the chain extended by the scope of a key or token, if there is one. */
export const withScope = (chain: ScopeChain, scope: Scope | null | undefined): ScopeChain =>
  extendChain(chain, scope ? [scope] : [])

/** Returns `chain` followed by the scopes of `more` that it does not contain. */
export function extendChain(chain: ScopeChain, more: ScopeChain): ScopeChain {
  const result: Scope[] = []
  for (const scope of [...chain, ...more]) if (!containsChain(result, [scope])) result.push(scope)
  return result
}

/** Reports whether two scopes are equal, of which either may be missing. */
export const isSameScope = (one: Scope | undefined, other: Scope | undefined): boolean =>
  deepEqual(one ?? null, other ?? null)

/** Reports whether `chain` contains every scope of `part`. */
export const containsChain = (chain: ScopeChain, part: ScopeChain): boolean =>
  part.every((scope) => chain.some((one) => deepEqual(one, scope)))

/** Where errors and warnings find the scope. */
export const SCOPE_PATH = 'spec.scope'

/** Returns the 422 errors for a chain before it is stored with a key or signed into a token. */
export function validateChain(chain: ScopeChain): FieldError[] {
  const errors: FieldError[] = []
  if (chain.length > MAX_CHAIN_SCOPES) errors.push(tooMany(SCOPE_PATH, chain.length, MAX_CHAIN_SCOPES))
  if (byteLength(chain) > MAX_CHAIN_BYTES) errors.push(tooLong(SCOPE_PATH, MAX_CHAIN_BYTES))
  return errors
}

/** Returns the size of the value as JSON, in UTF-8 bytes. */
export const byteLength = (value: unknown): number => Buffer.byteLength(stringify(value))
