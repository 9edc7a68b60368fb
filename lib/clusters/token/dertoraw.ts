/** Converts ECDSA P-256 signatures from the KMS format (DER) to the JWS format (raw). */

const SIZE = 32
const SEQUENCE = 0x30
const INTEGER = 0x02

/**
 * Returns r ‖ s, 32 bytes each, big-endian (RFC 7518 section 3.4), from an ASN.1 DER ECDSA-Sig-Value (RFC 3279 section
 * 2.2.3). Throws a TypeError for anything but the DER encoding of two positive integers of at most 32 bytes.
 */
export function derToRaw(der: Uint8Array): Uint8Array {
  if (der[0] !== SEQUENCE || der[1] !== der.length - 2) throw malformedError()
  const raw = new Uint8Array(2 * SIZE)
  let offset = 2
  for (const end of [SIZE, 2 * SIZE]) {
    const length = der[offset + 1] ?? 0
    const integer = parsePositive(der[offset], der.subarray(offset + 2, offset + 2 + length), length)
    raw.set(integer, end - integer.length)
    offset += 2 + length
  }
  if (offset !== der.length) throw malformedError()
  return raw
}

/**
 * Returns the magnitude of a DER integer, without the leading zero byte that marks a number with a high first bit as
 * positive.
 */
function parsePositive(tag: number | undefined, content: Uint8Array, length: number): Uint8Array {
  const [first = 0x80, second = 0] = content
  const padded = first === 0 && content.length > 1
  const canonical = first < 0x80 && (!padded || second >= 0x80)
  const magnitude = padded ? content.subarray(1) : content
  const zero = magnitude.length === 1 && magnitude[0] === 0
  if (tag !== INTEGER || content.length !== length || !canonical || zero || magnitude.length > SIZE)
    throw malformedError()
  return magnitude
}

const malformedError = () => new TypeError('not a DER encoded P-256 signature')
