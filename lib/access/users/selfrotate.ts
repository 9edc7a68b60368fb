/**
 * Limits what a key may do with the role selfRotate. Anyone who stole one of its values can rotate it too, and must neither
 * stay permanently nor lock the owner out.
 */
import { type FieldError, invalid, required } from '../../engine/meta/errors/fielderror.ts'
import type { KeySpec } from './identity.ts'

const ROLE = 'role selfRotate'
/** The shortest overlap, and the age from which a pending value may be replaced. */
const LEAST_SECONDS = 3600

/**
 * Returns the 422 errors for a key with the role: it must expire at a fixed time. That of a cluster, which has the right to review, need not: its
 * users are locked out when it expires, and it can do nothing else.
 */
export function endlessErrors({ ttl, ttlAfterLastActivity }: KeySpec, isOfCluster: boolean): FieldError[] {
  if (!ttl) return isOfCluster ? [] : [required('spec.ttl', `a key with ${ROLE} must expire`)]
  return ttlAfterLastActivity
    ? [invalid('spec.ttlAfterLastActivity', true, `may not be true for a key with ${ROLE}`)]
    : []
}

/** Returns the 422 errors for a rotation that only the role allows. */
export const overlapErrors = (overlapSeconds: number): FieldError[] =>
  overlapSeconds < LEAST_SECONDS
    ? [invalid('spec.overlapSeconds', overlapSeconds, `must be at least ${LEAST_SECONDS} with ${ROLE}`)]
    : []

/** Explains the 403 for the end of a rotation that only the role allows to rotate. */
export const NO_FINISH = `spec.finish: ${ROLE} does not include it`

/** Returns when a pending value may be replaced, in unix seconds. `made` is when it was made. */
export const replaceableFrom = (made: number): number => made + LEAST_SECONDS
