/**
 * The form of access keys: `mpk_`, 43 characters that spell 256 random bits, 6 characters of checksum. It lets scanners recognise a
 * leaked key, and refuses junk before anything is read. Described for others in docs/access-keys.md.
 */

import type { FieldError } from '../meta/errors/fielderror.ts'
import { hasChecksum, KEY_PATTERN, KEY_PREFIX, keyOf } from '../meta/value/credentials.ts'

/** Bounds of the keys that people bring along. */
const MIN_LENGTH = 32
const MAX_LENGTH = 512

/** A new key of 32 random bytes: one whole number, so that every value is as likely as any other. */
export function generateKey(randomBytes: (size: number) => Uint8Array): string {
  const bytes = randomBytes(32)
  if (bytes.length !== 32) throw new Error('an access key needs 32 random bytes')
  return keyOf(bytes)
}

/** Whether the text can be an access key at all. What cannot is refused without a look at the store. */
export const isWellFormed = (token: string): boolean => problem(token) === undefined

/** 422 findings of a key that a client supplies; none of them contains any of it. */
export function checkFormat(key: string, path = 'spec.key'): FieldError[] {
  const detail = problem(key)
  if (detail === undefined) return []
  return [{ type: 'FieldValueInvalid', field: path, message: `Invalid value: <redacted>: ${detail}` }]
}

/** 422 finding of a key that another object has. */
export const duplicateKey = (path = 'spec.key'): FieldError => ({
  type: 'FieldValueDuplicate',
  field: path,
  message: 'Duplicate value: <redacted>',
})

function problem(key: string): string | undefined {
  if (key.length < MIN_LENGTH || key.length > MAX_LENGTH) {
    return `must have ${MIN_LENGTH} to ${MAX_LENGTH} characters`
  }
  if (!/^[\x21-\x7e]+$/.test(key)) return 'must be printable ASCII characters without spaces'
  // Three or five parts: JWS and JWE. Such a token is somebody else's and would be taken for one of an issuer.
  if (/^[\w-]+\.[\w-]*\.[\w-]*(\.[\w-]*\.[\w-]*)?$/.test(key)) return 'may not have the form of a JSON Web Token'
  if (!key.startsWith(KEY_PREFIX)) return undefined
  if (!KEY_PATTERN.test(key)) return `what begins with ${KEY_PREFIX} must be an access key made by this service`
  return hasChecksum(key) ? undefined : `what begins with ${KEY_PREFIX} must end in the right checksum`
}
