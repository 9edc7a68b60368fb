/** Says which keys a revocation is about. */
import type { AccessKey } from '../../../../core/src/objects.ts'

/** Which keys: all that a key made, or those with these names. */
export type Selection = { madeWith: { uid: string } } | { names: readonly string[]; createdBefore: string }

/** A revocation may have so many names. */
export const MOST_NAMES = 1000

/** Returns the selection of just these keys: later ones with their names, which nobody has seen, are not in it. */
export function selectionOf(keys: readonly AccessKey[]): Selection {
  const made = keys.map(({ metadata }) => Date.parse(metadata.creationTimestamp) || 0)
  // Creation times are whole seconds of the server's clock.
  const latest = made.reduce((last, one) => Math.max(last, one), 0)
  return {
    names: keys.map(({ metadata }) => metadata.name),
    createdBefore: new Date(latest + 1000).toISOString().replace('.000', ''),
  }
}
