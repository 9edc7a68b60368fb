/**
 * The form of access keys: `mpk_`, 43 characters that spell 256 random bits, 6 characters of checksum. It lets scanners recognise a
 * leaked key, and refuses junk before anything is read. Described for others in docs/access-keys.md.
 */
import { crc32 } from 'node:zlib'
import type { FieldError } from '../meta/field.ts'

const PREFIX = 'mpk_'

/** Digits, capitals, small letters: the order of ASCII, and the one that GitHub's tokens use. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The fewest base-62 digits that hold 256 bits and 32 bits. */
const SECRET_DIGITS = 43
const CHECKSUM_DIGITS = 6

/** What begins with the prefix must look so, and carry the right checksum. */
export const KEY_PATTERN = /^mpk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/

/** Bounds of the keys that people bring along. */
const MIN_LENGTH = 32
const MAX_LENGTH = 512

/** A new key of 32 random bytes: one whole number, so that every value is as likely as any other. */
export function generateKey(randomBytes: (size: number) => Uint8Array): string {
  const bytes = randomBytes(32)
  if (bytes.length !== 32) throw new Error('an access key needs 32 random bytes')
  const body = PREFIX + base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), SECRET_DIGITS)
  return body + checksum(body)
}

/** CRC-32 (ISO-HDLC, that of zlib) of the characters before it, the prefix included. */
const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_DIGITS)

/** Most significant digit first, filled with 0 from the left. */
function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(digits, '0')
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
  if (!key.startsWith(PREFIX)) return undefined
  if (!KEY_PATTERN.test(key)) return `what begins with ${PREFIX} must be an access key made by this service`
  const body = key.slice(0, -CHECKSUM_DIGITS)
  return key === body + checksum(body) ? undefined : `what begins with ${PREFIX} must end in the right checksum`
}
