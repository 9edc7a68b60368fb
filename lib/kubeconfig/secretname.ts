/** Where the credentials of a virtual cluster lie. */
import { type FieldError, invalid } from '../meta/errors/fielderror.ts'

/** What Secrets Manager allows in names, without a colon: an ARN could name a secret anywhere. */
const NAME = /^[A-Za-z0-9/_+=.@-]+$/
/** Secrets Manager's limit for a whole name. */
const MAX_LENGTH = 512

/**
 * The name of the secret: `reference` below `prefix` (`keyplane/STAGE/virtualclusters/`), which IAM allows and nothing
 * else. A field error for whatever could lead out of it. The reference is no secret, so the error shows it.
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
