/**
 * The form of the credentials that this service hands out: access keys (docs/access-keys.md) and tokens. People paste them
 * into names, labels and descriptions, where everybody who may read the object would find them.
 */
import { crc32 } from 'node:zlib'

/** The text that messages, logs and answers show in place of a secret. */
export const REDACTED = '<redacted>'

export const KEY_PREFIX = 'mpk_'

/** Digits, capitals, small letters: the order of ASCII, and the one that GitHub's tokens use. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The fewest base-62 digits that hold 256 bits and 32 bits. */
const SECRET_DIGITS = 43
const CHECKSUM_DIGITS = 6
const KEY_LENGTH = KEY_PREFIX.length + SECRET_DIGITS + CHECKSUM_DIGITS

/** What begins with the prefix must look so, and carry the right checksum. */
export const KEY_PATTERN = /^mpk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/

/** Returns the access key that stands for 32 bytes. */
export function keyOf(bytes: Uint8Array): string {
  const body = KEY_PREFIX + base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), SECRET_DIGITS)
  return body + checksum(body)
}

/** Reports whether the last six characters are the checksum of those before them. */
export function hasChecksum(key: string): boolean {
  const body = key.slice(0, -CHECKSUM_DIGITS)
  return key === body + checksum(body)
}

/** CRC-32 (ISO-HDLC, that of zlib) of the characters before it, the prefix included. */
const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_DIGITS)

/** Most significant digit first, filled with 0 from the left. */
function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(digits, '0')
}

/** Reports whether an access key or a token of this service stands anywhere in the text. */
export const holdsCredential = (text: string): boolean => holdsKey(text) || holdsToken(text)

function holdsKey(text: string): boolean {
  for (let at = text.indexOf(KEY_PREFIX); at >= 0; at = text.indexOf(KEY_PREFIX, at + 1)) {
    const one = text.slice(at, at + KEY_LENGTH)
    if (KEY_PATTERN.test(one) && hasChecksum(one)) return true
  }
  return false
}

/** The member that every token of this service has: see PRIVATE_CLAIM. */
const OWN_CLAIM = '"management.platform"'
/** How the header of a JSON Web Token begins. */
const TOKEN = 'eyJ'
/** What a token may stand in: it ends at any other character. */
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

/** So many characters after the prefix are a key, if one that was cut off; the next prefix belongs to the same run. */
const LIKE_A_KEY = /mpk_\w{16,}/g
const SHORTEST_HEADER = 11

/** Returns the text with `<redacted>` in the place of all that looks like an access key or like anybody's JSON Web Token. */
export function withoutCredentials(text: string): string {
  const keyless = text.includes(KEY_PREFIX) ? text.replace(LIKE_A_KEY, REDACTED) : text
  return keyless.includes(TOKEN) ? keyless.replace(RUN, withoutToken) : keyless
}

/** From where a token begins, the rest of the run belongs to it. */
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
