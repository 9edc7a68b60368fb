/** Generates the keys of the KMS endpoint, signs and encrypts with them. Key material never leaves the process except to the data file. */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'

export type KmsKeySpec = 'ECC_NIST_P256' | 'SYMMETRIC_DEFAULT'

/** A key as stored in DATA_DIR/kms.json (mode 0600). */
export interface KmsKey {
  id: string
  spec: KmsKeySpec
  /** In base64: PKCS#8 DER, or the 32 bytes of an AES key. */
  material: string
}

/** The whole state of the endpoint. */
export interface KmsState {
  keys: KmsKey[]
  /** Pairs of `alias/NAME` and key ID. */
  aliases: [name: string, keyId: string][]
}

export const NO_KEYS: KmsState = { keys: [], aliases: [] }

export function generateKmsKey(spec: KmsKeySpec): KmsKey {
  const material =
    spec === 'SYMMETRIC_DEFAULT'
      ? randomBytes(32)
      : generateKeyPairSync('ec', {
          namedCurve: 'P-256',
          privateKeyEncoding: { format: 'der', type: 'pkcs8' },
          publicKeyEncoding: { format: 'der', type: 'spki' },
        }).privateKey
  return { id: randomUUID(), spec, material: material.toString('base64') }
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

/** Authenticated with the ciphertext. The order of the pairs does not matter. */
export type EncryptionContext = Readonly<Record<string, string>>

const associated = (context: EncryptionContext): Buffer =>
  Buffer.from(JSON.stringify(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))))

const HEADER_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16

/** Encrypts with AES-256-GCM. The result is the key's ID (16 bytes), a random IV (12), the tag (16) and the ciphertext. */
export function encryptWith(key: KmsKey, plaintext: Uint8Array, context: EncryptionContext): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key.material, 'base64'), iv).setAAD(associated(context))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([Buffer.from(key.id.replaceAll('-', ''), 'hex'), iv, cipher.getAuthTag(), body])
}

/** Returns the key ID that the ciphertext starts with. For other bytes the result matches no key. */
export const keyIdOf = (ciphertext: Uint8Array): string =>
  Buffer.from(ciphertext.subarray(0, HEADER_BYTES))
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Returns undefined when the ciphertext, the key or the context differs from that of the encryption. */
export function decryptWith(key: KmsKey, ciphertext: Uint8Array, context: EncryptionContext): Buffer | undefined {
  const iv = ciphertext.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES)
  const tag = ciphertext.subarray(HEADER_BYTES + IV_BYTES, HEADER_BYTES + IV_BYTES + TAG_BYTES)
  if (tag.length !== TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key.material, 'base64'), iv)
    .setAAD(associated(context))
    .setAuthTag(tag)
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(HEADER_BYTES + IV_BYTES + TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
