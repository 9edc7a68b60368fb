/**
 * Limits what a key may do with the role selfRotate. Whoever stole one of its values can rotate it too, and must neither
 * stay for ever nor lock the owner out.
 */
import { type FieldError, invalid, required } from '../../meta/errors/fielderror.ts'
import type { KeySpec } from './identity.ts'

const ROLE = 'role selfRotate'

/** Returns the 422 errors for a key with the role: it must expire at a fixed time. */
export function endlessErrors({ ttl, ttlAfterLastActivity }: KeySpec): FieldError[] {
  if (!ttl) return [required('spec.ttl', `a key with ${ROLE} must expire`)]
  return ttlAfterLastActivity
    ? [invalid('spec.ttlAfterLastActivity', true, `may not be true for a key with ${ROLE}`)]
    : []
}
