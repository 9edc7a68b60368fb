/** Defines the format of credentials. The service and all its clients share it, so it needs nothing of Node.js. */

export const KEY_PREFIX = 'mpk_'

/** Digits, upper-case and lower-case letters in ASCII order, as in GitHub's tokens. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The minimum numbers of base-62 digits for 256 bits and for 32 bits. */
const SECRET_DIGITS = 43
const CHECKSUM_DIGITS = 6
const KEY_LENGTH = KEY_PREFIX.length + SECRET_DIGITS + CHECKSUM_DIGITS

/** Matches a credential; its checksum must also be correct. */
export const KEY_PATTERN = /^mpk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/

/** Encodes 32 bytes as a credential. */
export function encodeKey(bytes: Uint8Array): string {
  const number = bytes.reduce((before, byte) => before * 256n + BigInt(byte), 0n)
  const body = KEY_PREFIX + base62(number, SECRET_DIGITS)
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

/** The remainder of each byte. Every request with a credential computes a checksum. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  return crc
})

/** Returns the CRC-32 of ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let at = 0; at < text.length; at++) crc = (crc >>> 8) ^ (REMAINDERS[(crc ^ text.charCodeAt(at)) & 0xff] ?? 0)
  return ~crc >>> 0
}

/** Returns every credential of this format in the text, with its position. */
export function* keysIn(text: string): Generator<{ key: string; at: number }> {
  for (let at = text.indexOf(KEY_PREFIX); at >= 0; at = text.indexOf(KEY_PREFIX, at + 1)) {
    const key = text.slice(at, at + KEY_LENGTH)
    if (KEY_PATTERN.test(key) && hasChecksum(key)) yield { key, at }
  }
}
