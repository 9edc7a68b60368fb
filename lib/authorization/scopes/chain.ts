/**
 * Chains of scopes: what a key or token carries of the keys that made it. Scopes are compared as a whole; there is no
 * arithmetic on them, a chain only grows: the scope of a key narrows and never widens.
 */

import { stringify } from '../../meta/encoding/json.ts'
import { type FieldError, tooLong, tooMany } from '../../meta/errors/fielderror.ts'
import type { Scope, ScopeChain } from './scope.ts'

/** Together they keep every chain within the authorizer's context and a JWT within a header. */
export const MAX_CHAIN_BYTES = 4096
export const MAX_CHAIN_SCOPES = 8

/** What must pass the chain and this scope as well, if there is one: a request with a scoped key, a scoped token. */
export const withScope = (chain: ScopeChain, scope: Scope | null | undefined): ScopeChain =>
  extend(chain, scope ? [scope] : [])

/** `chain` followed by those of `more` that it lacks. */
export function extend(chain: ScopeChain, more: ScopeChain): ScopeChain {
  const result = new Map<string, Scope>()
  for (const scope of [...chain, ...more])
    if (!result.has(canonicalText(scope))) result.set(canonicalText(scope), scope)
  return [...result.values()]
}

/** Whether every scope of `part` is in `chain`. */
export function containsChain(chain: ScopeChain, part: ScopeChain): boolean {
  const known = new Set(chain.map(canonicalText))
  return part.every((scope) => known.has(canonicalText(scope)))
}

/** 422 findings of a chain that is about to be written (stored with a key, or signed into a token). */
export function validateChain(chain: ScopeChain, path = 'spec.scope'): FieldError[] {
  const errors: FieldError[] = []
  if (chain.length > MAX_CHAIN_SCOPES) errors.push(tooMany(path, chain.length, MAX_CHAIN_SCOPES))
  if (byteLength(chain) > MAX_CHAIN_BYTES) errors.push(tooLong(path, MAX_CHAIN_BYTES))
  return errors
}

/** UTF-8 bytes of the value as JSON. */
export const byteLength = (value: unknown): number => Buffer.byteLength(stringify(value))

/** Equal exactly for values that differ in nothing but the order of members; undefined has a text of its own. */
export const canonicalText = (value: unknown): string => (value === undefined ? '' : stringify(sorted(value)))

/** Objects as the sorted list of their members, wrapped so that no list has the text of an object. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return { members: members.map(([member, one]) => [member, sorted(one)]) }
}
