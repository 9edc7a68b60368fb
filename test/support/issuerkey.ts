/** Makes keys of issuers, and signs ID tokens with them as issuers and attackers do. */
import {
  constants,
  createHmac,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign as signBytes,
} from 'node:crypto'

/** A key pair of an issuer. */
export interface IssuerKey {
  kid: string | undefined
  alg: string
  /** The public key, as the issuer publishes it. */
  jwk: JsonWebKey
  privateKey: KeyObject
}

const curves: Record<string, string> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }

/** Returns a new key pair. The key of an HMAC algorithm is an RSA key, whose public part is the secret. */
export function makeIssuerKey(alg: string, kid?: string): IssuerKey {
  const namedCurve = curves[alg]
  const { publicKey, privateKey } = namedCurve
    ? generateKeyPairSync('ec', { namedCurve })
    : alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), ...(kid !== undefined && { kid }), use: 'sig', alg }
  return { kid, alg, jwk, privateKey }
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns a token with exactly these claims. `none` and the HMAC algorithms are signed as an attacker would. */
export function signIdToken(claims: object, { alg, kid, jwk, privateKey }: IssuerKey, header: object = {}): string {
  const input = `${base64url({ alg, typ: 'JWT', kid, ...header })}.${base64url(claims)}`
  const used = 'alg' in header ? String(header.alg) : alg
  return `${input}.${signatureOf(Buffer.from(input), used, privateKey, jwk).toString('base64url')}`
}

function signatureOf(input: Buffer, alg: string, key: KeyObject, jwk: JsonWebKey): Buffer {
  if (alg === 'none') return Buffer.alloc(0)
  if (alg === 'EdDSA') return signBytes(null, input, key)
  const bits = alg.slice(2)
  const hash = `sha${bits}`
  if (alg.startsWith('HS')) return createHmac(hash, JSON.stringify(jwk)).update(input).digest()
  if (alg.startsWith('ES')) return signBytes(hash, input, { key, dsaEncoding: 'ieee-p1363' })
  if (alg.startsWith('RS')) return signBytes(hash, input, key)
  return signBytes(hash, input, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: Number(bits) / 8 })
}
