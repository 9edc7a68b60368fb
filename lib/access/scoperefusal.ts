/**
 * Builds the 403 for a request that a chain of scopes refuses. Its message ends in the reason, and its causes contain the
 * scope entry that would allow the request.
 */

import { stringify } from '../engine/meta/encoding/json.ts'
import { StatusError } from '../engine/meta/errors/status.ts'
import type { StatusCause } from '../engine/meta/types.ts'
import { withoutCredentials } from '../engine/meta/value/credentialtext.ts'
import { forbiddenFor } from '../engine/registry/forbidden.ts'
import type { Attributes, Decision } from './attributes/attributes.ts'
import { broaderEntry, type Judge, judgeEach, missingEntry } from './missingentry.ts'
import { evaluate } from './scopes/evaluate.ts'
import type { ScopeOptions } from './scopes/project.ts'
import { makesClusterToken } from './scopes/reachableclusters.ts'
import { isKeyReview } from './scopes/roles.ts'
import type { Scope, ScopeChain } from './scopes/scope.ts'
import { SCOPE_MISSING } from './scopewarnings.ts'
import type { UserInfo } from './users/user.ts'

/** Limits the causes as JSON, in bytes. A longer entry is of no use to a person. */
const MAX_BYTES = 600

export interface ScopeRefusal {
  /** Why the chain refuses, for the audit record. The message of the error ends in it. */
  reason: string
  error: StatusError
}

/** Returns the 403 for a request that the chain refuses, with the reason from `evaluate`. Reviews answer in their own form (`mayReview`). */
export function refuseByScope(
  attributes: Attributes,
  user: Pick<UserInfo, 'name' | 'chain' | 'key'>,
  decision: Extract<Decision, { allowed: false }>,
  options: ScopeOptions,
): ScopeRefusal {
  const { chain } = user
  const refusal = judgeEach(chain, (scopes) => evaluate(scopes, attributes, options))
  const [first = -1] = refusal.refusing
  const reason = `${decision.reason}${changeability(first, chain.length)}`
  const { status } = forbiddenFor(attributes, user, reason)
  const causes = scopeCauses(user, attributes, options, missingEntry(chain, attributes, options, refusal))
  const details = { ...status.details, ...(causes.length > 0 && { causes }) }
  return { reason, error: new StatusError({ ...status, details }) }
}

/**
 * Returns who can change the scope of a chain. A key never widens its own scope: a scope that it replaces still applies. Only the last scope can be that of the key itself. The others are inherited.
 */
function changeability(index: number, length: number): string {
  if (length === 1) return ''
  return index < length - 1
    ? '; the access key inherited this scope, so nobody can change it'
    : '; only another access key can change this scope, and only if it is not inherited'
}

/**
 * Returns the causes with the exact entry, and a broader one if there is room. Returns none if they would be too long, or if
 * one entry does not suffice.
 */
function scopeCauses(
  { chain, key }: Pick<UserInfo, 'chain' | 'key'>,
  attributes: Attributes,
  options: ScopeOptions,
  missing: ReturnType<typeof missingEntry>,
): StatusCause[] {
  if (missing === undefined || needsMore(chain, attributes, options)) return []
  const at = chain.length > 1 ? ` in chain[${missing.index}].spec.scope` : ''
  // Tokens need the cluster, not a rule.
  const exact = makesClusterToken(attributes) ? [] : [causeOf(missing.exact, at)]
  const broader = broaderEntry(chain, missing, { attributes, keyName: key.name, options })
  const both = broader ? [...exact, causeOf(broader.entry, `${at}, and ${broader.opens}`)] : exact
  return [both, exact].find(isShort) ?? []
}

/** Reports whether the request needs a second entry: a review of the access of a key requires `get` of the key. */
const needsMore = (chain: ScopeChain, attributes: Attributes, options: ScopeOptions): boolean =>
  isKeyReview(attributes) && !evaluate(chain, { ...attributes, verb: 'get', subresource: '' }, options).allowed

const causeOf = (entry: Scope, more: string): StatusCause => ({
  reason: SCOPE_MISSING,
  field: 'spec.scope',
  message: `${stringify(entry)} would allow it${more}`,
})

/** Reports whether the causes fit. An entry that needs redaction does not: it would allow another request. */
const isShort = (causes: readonly StatusCause[]): boolean =>
  Buffer.byteLength(stringify(causes)) <= MAX_BYTES &&
  causes.every(({ message = '' }) => withoutCredentials(message) === message)

/** Returns the reason of a denial, followed by the exact entry if it is short and suffices. */
export function reasonWithEntry(
  reason: string,
  chain: ScopeChain,
  attributes: Attributes,
  { options, judge }: { options: ScopeOptions; judge: Judge },
): string {
  const missing = missingEntry(chain, attributes, options, judgeEach(chain, judge))
  const cause = missing && causeOf(missing.exact, chain.length > 1 ? ` in chain[${missing.index}].spec.scope` : '')
  return cause && isShort([cause]) ? `${reason}; ${cause.message}` : reason
}
