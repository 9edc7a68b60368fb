/** Tells people at kubectl which scope entry is missing: kubectl shows the message of an error and Warnings, but no causes. */
import type { Status } from '../engine/meta/types.ts'

/** The reason of the causes of a 403 that contain a scope entry which would allow the request. */
export const SCOPE_MISSING = 'ScopeMissing'

/** Matches the User-Agent of programs with client-go: `kubectl/v1.34.4 (linux/amd64) kubernetes/abcdef0`. */
const CLIENT_GO = / \(\S+\) kubernetes\/\S+/

/**
 * Returns the warning with the exact scope entry that the causes of a 403 contain. Only programs with client-go get it:
 * the others read the causes.
 */
export function scopeWarnings({ details }: Status, userAgent: string | null | undefined): string[] {
  if (!userAgent || !CLIENT_GO.test(userAgent)) return []
  const cause = details?.causes?.find(({ reason }) => reason === SCOPE_MISSING)
  return cause ? [`${cause.field}: ${cause.message}`] : []
}
