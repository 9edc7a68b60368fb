/** Limits the claims that a provider or a trust requires, beyond what each claim must be. */
import type { ClaimEntry } from '../../../../federation/claims.ts'
import { duplicate, type FieldError, tooMany } from '../../../../meta/errors/fielderror.ts'

/** A list with more values and patterns is hard to review. */
const MAX_CHOICES = 32

/** Returns the 422 errors for claims that occur twice, and for too many values and patterns together. */
export function validateClaimCounts(entries: readonly ClaimEntry[] = []): FieldError[] {
  const names = entries.map(({ claim }) => claim)
  const choices = entries.reduce((sum, { values = [], patterns = [] }) => sum + values.length + patterns.length, 0)
  return [
    ...names.flatMap((claim, index) =>
      names.indexOf(claim) < index ? [duplicate(`spec.claims[${index}].claim`, claim)] : [],
    ),
    ...(choices > MAX_CHOICES ? [tooMany('spec.claims', choices, MAX_CHOICES)] : []),
  ]
}
