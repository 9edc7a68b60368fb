/**
 * Makes the value of an access key in the format of the server (docs/access-keys.md): `mpk_`, 43 digits of base 62 with 256 random
 * bits, and a checksum of 6 digits.
 */

const PREFIX = 'mpk_'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a new value. `randomBytes` fills an array with random numbers. */
export function newKeyValue(randomBytes: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string {
  let number = 0n
  for (const byte of randomBytes(new Uint8Array(32))) number = number * 256n + BigInt(byte)
  const body = PREFIX + base62(number, 43)
  return body + base62(BigInt(crc32(body)), 6)
}

function base62(value: bigint, digits: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text.padStart(digits, '0')
}

/** CRC-32 (ISO-HDLC, as in zlib) of ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const character of text) {
    crc ^= character.charCodeAt(0)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}
