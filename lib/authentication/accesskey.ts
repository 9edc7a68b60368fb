/**
 * Generates and validates access keys: `mpk_`, 43 characters that encode 256 random bits, and a checksum of 6
 * characters. Scanners can recognise leaked keys by this format, and invalid keys are rejected without a read.
 * docs/access-keys.md describes the format.
 */

import type { FieldError } from '../meta/errors/fielderror.ts'
import { hasChecksum, KEY_PATTERN, KEY_PREFIX, keyOf } from '../meta/value/credentials.ts'

/** Length limits of keys that clients supply. */
const MIN_LENGTH = 32
const MAX_LENGTH = 512

/** Returns a new key of 32 random bytes. The bytes encode a single number, so that all keys are equally likely. */
export function generateKey(randomBytes: (size: number) => Uint8Array): string {
  const bytes = randomBytes(32)
  if (bytes.length !== 32) throw new Error('an access key needs 32 random bytes')
  return keyOf(bytes)
}

/** Reports whether the text has the format of an access key. Other texts are rejected without a read. */
export const isWellFormed = (token: string): boolean => problem(token) === undefined

/** Returns the 422 errors for a key that a client supplies. They never contain any part of the key. */
export function checkFormat(key: string, path = 'spec.key'): FieldError[] {
  const detail = problem(key)
  if (detail === undefined) return []
  return [{ type: 'FieldValueInvalid', field: path, message: `Invalid value: <redacted>: ${detail}` }]
}

/** Returns the 422 error for a key that another object already has. */
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
  // Three parts are a JWS, five a JWE. Such a token belongs to another system and would be mistaken for an issuer's
  // token.
  if (/^[\w-]+\.[\w-]*\.[\w-]*(\.[\w-]*\.[\w-]*)?$/.test(key)) return 'may not have the form of a JSON Web Token'
  if (!key.startsWith(KEY_PREFIX)) return undefined
  if (!KEY_PATTERN.test(key)) return `what begins with ${KEY_PREFIX} must be an access key made by this service`
  return hasChecksum(key) ? undefined : `what begins with ${KEY_PREFIX} must end in the right checksum`
}
