/** Derives the name of the secret with a virtual cluster's credentials. */
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'

/** The characters that Secrets Manager allows in names, except the colon: an ARN could name any secret. */
const NAME = /^[A-Za-z0-9/_+=.@-]+$/
/** The Secrets Manager limit for a full name. */
const MAX_LENGTH = 512

/**
 * Returns the name of the secret: `reference` below `prefix` (`keyplane/STAGE/virtualclusters/`), the only prefix that
 * IAM allows. A reference that could leave the prefix is a field error. The reference is not secret, so the error shows
 * it.
 */
export function secretName(prefix: string, reference: string, field: string): string | { error: FieldError } {
  const steps = reference.split('/')
  if (!NAME.test(reference) || steps.some((step) => step === '' || step === '.' || step === '..')) {
    const detail = 'must be steps of letters, digits and _+=.@- joined by "/", none of them empty, "." or ".."'
    return { error: invalid(field, reference, detail) }
  }
  const name = `${prefix}${reference}`
  if (name.length > MAX_LENGTH) {
    return { error: invalid(field, reference, `must be no more than ${MAX_LENGTH - prefix.length} characters`) }
  }
  return name
}
