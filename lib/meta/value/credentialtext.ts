/**
 * Defines the format of access keys (docs/access-keys.md), and finds and redacts access keys and tokens in text. Users paste
 * credentials into names, labels and descriptions, which every reader of the object can see.
 */
import { crc32 } from 'node:zlib'

/** Replaces secrets in messages, logs and responses. */
export const REDACTED = '<redacted>'

export const KEY_PREFIX = 'mpk_'

/** Digits, upper-case and lower-case letters in ASCII order, as in GitHub's tokens. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The minimum numbers of base-62 digits for 256 bits and for 32 bits. */
const SECRET_DIGITS = 43
const CHECKSUM_DIGITS = 6
const KEY_LENGTH = KEY_PREFIX.length + SECRET_DIGITS + CHECKSUM_DIGITS

/** Matches an access key; its checksum must also be correct. */
export const KEY_PATTERN = /^mpk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/

/** Encodes 32 bytes as an access key. */
export function encodeKey(bytes: Uint8Array): string {
  const body = KEY_PREFIX + base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), SECRET_DIGITS)
  return body + checksum(body)
}

/** Reports whether the last six characters are the checksum of those before them. */
export function hasChecksum(key: string): boolean {
  const body = key.slice(0, -CHECKSUM_DIGITS)
  return key === body + checksum(body)
}

/** Returns the CRC-32 (ISO-HDLC, as in zlib) of the preceding characters, including the prefix. */
const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_DIGITS)

/** Encodes a number with the most significant digit first, padded with leading zeros. */
function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(digits, '0')
}

/** Reports whether the text contains an access key or a token of this service. */
export const holdsCredential = (text: string): boolean => holdsKey(text) || holdsToken(text)

const holdsKey = (text: string): boolean => !keysIn(text).next().done

/** Returns every access key in the text, with its position. */
export function* keysIn(text: string): Generator<{ key: string; at: number }> {
  for (let at = text.indexOf(KEY_PREFIX); at >= 0; at = text.indexOf(KEY_PREFIX, at + 1)) {
    const key = text.slice(at, at + KEY_LENGTH)
    if (KEY_PATTERN.test(key) && hasChecksum(key)) yield { key, at }
  }
}

/** The claim that every token of this service contains: see PRIVATE_CLAIM. */
const OWN_CLAIM = '"management.platform"'
/** The beginning of the header of a JSON Web Token. */
const TOKEN = 'eyJ'
/** Matches a run of the characters that a token can contain. */
const RUN = /[\w.-]+/g

function holdsToken(text: string): boolean {
  if (!text.includes(TOKEN)) return false
  for (const [run] of text.matchAll(RUN)) {
    const parts = run.split('.')
    const claims = parts.filter((_, index) => index > 0 && parts[index - 1]?.includes(TOKEN))
    if (claims.some((one) => Buffer.from(one, 'base64url').includes(OWN_CLAIM))) return true
  }
  return false
}

/** Matches access keys, also truncated ones and several in a row. */
const LIKE_A_KEY = /mpk_\w{16,}/g
const SHORTEST_HEADER = 11

/** Replaces everything that resembles an access key or any issuer's JSON Web Token with `<redacted>`. */
export function withoutCredentials(text: string): string {
  const keyless = text.includes(KEY_PREFIX) ? text.replace(LIKE_A_KEY, REDACTED) : text
  return keyless.includes(TOKEN) ? keyless.replace(RUN, withoutToken) : keyless
}

/** Redacts a run from the beginning of the first token to its end. */
function withoutToken(run: string): string {
  let at = 0
  for (const part of run.split('.')) {
    const begins = part.indexOf(TOKEN)
    const ends = at + part.length
    if (begins >= 0 && part.length - begins >= SHORTEST_HEADER && /[\w-]/.test(run[ends + 1] ?? '')) {
      return run.slice(0, at + begins) + REDACTED
    }
    at = ends + 1
  }
  return run
}
