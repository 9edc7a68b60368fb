/** Generates the signing keys of the KMS endpoint and signs with them. Key material never leaves the process except to the data file. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'

/** A key as stored in DATA_DIR/kms.json (mode 0600). */
export interface KmsKey {
  id: string
  /** PKCS#8 DER in base64. */
  material: string
}

/** The whole state of the endpoint. */
export interface KmsState {
  keys: KmsKey[]
  /** Pairs of `alias/NAME` and key ID. */
  aliases: [name: string, keyId: string][]
}

export const NO_KEYS: KmsState = { keys: [], aliases: [] }

export function generateKmsKey(): KmsKey {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { format: 'der', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  })
  return { id: randomUUID(), material: privateKey.toString('base64') }
}

const privateKey = ({ material }: KmsKey): KeyObject =>
  createPrivateKey({ key: Buffer.from(material, 'base64'), format: 'der', type: 'pkcs8' })

/** Returns the SubjectPublicKeyInfo in DER. */
export const publicKeyOf = (key: KmsKey): Buffer =>
  createPublicKey(privateKey(key)).export({ format: 'der', type: 'spki' })

/** Returns the DER signature of a SHA-256 digest. node:crypto cannot do this: it hashes everything that it signs. */
export function signDigest(key: KmsKey, digest: Uint8Array): Buffer {
  const secret = Buffer.from(privateKey(key).export({ format: 'jwk' }).d ?? '', 'base64url')
  return Buffer.from(p256.sign(digest, secret, { prehash: false, format: 'der' }))
}
