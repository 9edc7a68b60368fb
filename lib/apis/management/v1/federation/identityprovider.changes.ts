/** Judges which changes of an identity provider close the keys of earlier exchanges. */
import { type PublicKey, parseKeySet, UnusableKeySet } from '../../../../federation/jwks.ts'
import type { ProviderSpec } from '../../../../federation/provider.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'

/** The members whose changes close the keys of earlier exchanges, besides `jwks`. */
const CLOSING = ['audience', 'jwksURI', 'algorithms', 'scope', 'claims', 'maxTokenAge', 'maxTTL'] as const

/** Reports whether a change closes the keys of earlier exchanges. Adding pinned keys does not. */
export function closesKeys(old: ProviderSpec, next: ProviderSpec): boolean {
  return CLOSING.some((member) => !deepEqual(old[member], next[member])) || losesKey(old.jwks, next.jwks)
}

function losesKey(old: string | undefined, next: string | undefined): boolean {
  if (old === next) return false
  if (old === undefined || next === undefined) return true
  const kept = keysOf(next)
  return keysOf(old).some((key) => !kept.some((one) => deepEqual(one, key)))
}

/** Returns the keys of a pinned set. A request may have an invalid one, which validation refuses. */
function keysOf(jwks: string): readonly PublicKey[] {
  try {
    return parseKeySet(jwks).keys
  } catch (error) {
    if (error instanceof UnusableKeySet) return []
    throw error
  }
}
