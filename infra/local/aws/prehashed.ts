/**
 * ECDSA on P-256 over a digest that is already made: KMS's MessageType DIGEST. node:crypto hashes whatever it signs,
 * so the arithmetic is here; the only multiplication with a secret, k·G, stays in OpenSSL.
 * Not constant in time: for the local server only. Source: SEC 1 version 2, sections 4.1.3 and 4.1.4.
 */
import { createECDH, type KeyObject, randomBytes } from 'node:crypto'

const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const G: Point = [
  0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
]

/** Affine coordinates; undefined is the point at infinity. */
type Point = readonly [x: bigint, y: bigint] | undefined

/** DER signature of a 32-byte digest. */
export function signDigest(key: KeyObject, digest: Uint8Array): Buffer {
  const z = toInteger(digest)
  const d = toInteger(Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url'))
  for (;;) {
    const k = toInteger(randomBytes(32))
    if (k === 0n || k >= N) continue
    const ephemeral = createECDH('prime256v1')
    ephemeral.setPrivateKey(toBytes(k))
    const r = toInteger(ephemeral.getPublicKey().subarray(1, 33)) % N
    const s = modulo(inverse(k, N) * (z + r * d), N)
    if (r !== 0n && s !== 0n) return encode(r, s)
  }
}

/** Whether the DER signature is one of this digest; anything malformed is not. */
export function verifyDigest(key: KeyObject, digest: Uint8Array, signature: Uint8Array): boolean {
  const pair = decode(signature)
  if (!pair) return false
  const [r, s] = pair
  if (r <= 0n || r >= N || s <= 0n || s >= N) return false
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  const Q: Point = [toInteger(Buffer.from(x, 'base64url')), toInteger(Buffer.from(y, 'base64url'))]
  const w = inverse(s, N)
  const R = add(multiply(modulo(toInteger(digest) * w, N), G), multiply(modulo(r * w, N), Q))
  return R !== undefined && modulo(R[0], N) === r
}

const toInteger = (bytes: Uint8Array): bigint => BigInt(`0x0${Buffer.from(bytes).toString('hex')}`)
const toBytes = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
const modulo = (value: bigint, modulus: bigint): bigint => ((value % modulus) + modulus) % modulus

/** Extended Euclid; `modulus` is prime and `value` not a multiple of it. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [modulo(value, modulus), modulus, 1n, 0n]
  while (a > 1n) {
    const quotient = a / b
    ;[a, b] = [b, a % b]
    ;[x, y] = [y, x - quotient * y]
  }
  return modulo(x, modulus)
}

function add(one: Point, other: Point): Point {
  if (!one) return other
  if (!other) return one
  const [x1, y1] = one
  const [x2, y2] = other
  if (x1 === x2 && modulo(y1 + y2, P) === 0n) return undefined
  const slope = x1 === x2 ? (3n * x1 * x1 - 3n) * inverse(2n * y1, P) : (y2 - y1) * inverse(x2 - x1, P)
  const x = modulo(slope * slope - x1 - x2, P)
  return [x, modulo(slope * (x1 - x) - y1, P)]
}

function multiply(factor: bigint, point: Point): Point {
  let sum: Point
  for (let [rest, power] = [factor, point]; rest > 0n; rest >>= 1n, power = add(power, power))
    if (rest & 1n) sum = add(sum, power)
  return sum
}

/** SEQUENCE of two INTEGERs (RFC 3279 section 2.2.3); at most 72 bytes, so lengths take one byte. */
function encode(r: bigint, s: bigint): Buffer {
  const content = Buffer.concat([r, s].map(encodeInteger))
  return Buffer.concat([Buffer.from([0x30, content.length]), content])
}

function encodeInteger(value: bigint): Buffer {
  const digits = value.toString(16)
  const magnitude = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
  const signed = (magnitude[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), magnitude]) : magnitude
  return Buffer.concat([Buffer.from([0x02, signed.length]), signed])
}

/** Strict DER: what does not encode back to the same bytes is refused. */
function decode(signature: Uint8Array): [r: bigint, s: bigint] | undefined {
  const der = Buffer.from(signature)
  const lengthR = der[3] ?? 0
  const lengthS = der[5 + lengthR] ?? 0
  const r = toInteger(der.subarray(4, 4 + lengthR))
  const s = toInteger(der.subarray(6 + lengthR, 6 + lengthR + lengthS))
  return encode(r, s).equals(der) ? [r, s] : undefined
}
