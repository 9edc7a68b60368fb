/**
 * Judges the numbers of foreign keys by their sizes, before OpenSSL sees them. For a number of more than 2,048 bytes it leaves an error in
 * the queue of the process, and the next operation of any TLS connection fails with it. Reads DER (ITU-T X.690) as far as that needs it.
 */
interface DerValue {
  tag: number
  content: Buffer
}

/** Returns the values that the bytes consist of, one after the other, or undefined if they are not DER. */
function derValues(bytes: Buffer): DerValue[] | undefined {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0
    const first = bytes[at + 1] ?? 0x80
    const size = first < 0x80 ? 0 : first - 0x80
    if ((tag & 0x1f) === 0x1f || first === 0x80 || size > 4 || at + 2 + size > bytes.length) return undefined
    const length = size === 0 ? first : bytes.readUIntBE(at + 2, size)
    const from = at + 2 + size
    if (from + length > bytes.length) return undefined
    values.push({ tag, content: bytes.subarray(from, from + length) })
    at = from + length
  }
  return values
}

const SEQUENCE = 0x30

/** Returns the values in the sequence that the bytes are, or undefined if they are none. */
function derSequence(bytes: Buffer): DerValue[] | undefined {
  const [one, ...others] = derValues(bytes) ?? []
  return one?.tag === SEQUENCE && others.length === 0 ? derValues(one.content) : undefined
}

/** A longer modulus makes each verification slow. */
const MAX_MODULUS_BITS = 8192
const MAX_EXPONENT_BYTES = 8
const MAX_POINT_BYTES = 133
/** An RSA key of 8192 bits has less than 5 KiB with all its primes. */
const MAX_PRIVATE_BYTES = 8192

const RSA = ['2a864886f70d010101', '2a864886f70d01010a']
const EC = '2a8648ce3d0201'
const CURVES = ['2a8648ce3d030107', '2b81040022', '2b81040023']
/** Ed25519 and Ed448. */
const EDWARDS = ['2b6570', '2b6571']

/** Returns the bits of the modulus of an RSA key, or undefined unless both are odd numbers that a key can have. */
export function modulusBits(modulus: Buffer, exponent: Buffer): number | undefined {
  if (modulus.length > MAX_MODULUS_BITS / 8 + 1 || exponent.length > MAX_EXPONENT_BYTES) return undefined
  const n = BigInt(`0x0${modulus.toString('hex')}`)
  const e = BigInt(`0x0${exponent.toString('hex')}`)
  const bits = n.toString(2).length
  return bits <= MAX_MODULUS_BITS && n % 2n === 1n && e % 2n === 1n && e >= 3n ? bits : undefined
}

/** Reports whether a certificate in DER (RFC 5280) has a key of an accepted size. */
export function hasSoundCertificateKey(der: Buffer): boolean {
  const [certificate] = derSequence(der) ?? []
  const fields = certificate && derValues(certificate.content)
  const isVersioned = fields?.[0]?.tag === 0xa0
  return isSoundKeyInfo(fields?.[isVersioned ? 6 : 5])
}

/** Reports whether a certificate request in DER (RFC 2986) has a key of an accepted size. */
export function hasSoundRequestKey(der: Buffer): boolean {
  const [information] = derSequence(der) ?? []
  return isSoundKeyInfo(information && derValues(information.content)?.[2])
}

/** Judges a SubjectPublicKeyInfo. */
function isSoundKeyInfo(info: DerValue | undefined): boolean {
  const [algorithm, key] = (info && derValues(info.content)) ?? []
  const [id, parameters] = (algorithm && derValues(algorithm.content)) ?? []
  if (!id || !key) return false
  // The first byte of a bit string counts the unused bits of the last one.
  const bits = key.content.subarray(1)
  const type = id.content.toString('hex')
  if (RSA.includes(type)) return isSoundRsa(derSequence(bits))
  if (type === EC) return CURVES.includes(parameters?.content.toString('hex') ?? '') && bits.length <= MAX_POINT_BYTES
  return EDWARDS.includes(type) && bits.length <= MAX_POINT_BYTES
}

/** The formats of private keys: PKCS#8 (RFC 5208), and those of RSA (RFC 8017) and elliptic curves (RFC 5915). */
export type PrivateFormat = 'pkcs8' | 'pkcs1' | 'sec1'

/** Reports whether an unencrypted private key in DER has an accepted size. */
export function isSoundPrivateKey(der: Buffer, format: PrivateFormat): boolean {
  if (der.length > MAX_PRIVATE_BYTES) return false
  const [version, ...fields] = derSequence(der) ?? []
  if (!version || format === 'sec1') return version !== undefined
  if (format === 'pkcs1') return isSoundRsa(fields)
  const [algorithm, key] = fields
  const [id] = (algorithm && derValues(algorithm.content)) ?? []
  if (!id || !key) return false
  return !RSA.includes(id.content.toString('hex')) || isSoundRsa(derSequence(key.content)?.slice(1))
}

const isSoundRsa = ([modulus, exponent]: readonly DerValue[] = []): boolean =>
  modulus !== undefined && exponent !== undefined && modulusBits(modulus.content, exponent.content) !== undefined
