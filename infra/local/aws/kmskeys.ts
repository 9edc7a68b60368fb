/**
 * The keys behind the KMS endpoint: made here, never leave it, and what they can do. AWS's checks and shapes are in kmscryptography.ts
 * and kmsmanagement.ts.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
  verify,
} from 'node:crypto'
import { signDigest, verifyDigest } from './prehashed.ts'

export type KeySpec = 'ECC_NIST_P256' | 'SYMMETRIC_DEFAULT'

/** What a key of a spec is for, and the one algorithm that it has. */
export const USAGE = { ECC_NIST_P256: 'SIGN_VERIFY', SYMMETRIC_DEFAULT: 'ENCRYPT_DECRYPT' } as const
export const ALGORITHM = { ECC_NIST_P256: 'ECDSA_SHA_256', SYMMETRIC_DEFAULT: 'SYMMETRIC_DEFAULT' } as const

/** A key as it lies in DATA_DIR/kms.json (mode 0600). */
export interface KmsKey {
  id: string
  spec: KeySpec
  description: string
  /** Unix milliseconds. */
  created: number
  enabled: boolean
  /** base64: PKCS#8 DER, or the 32 bytes of an AES key. */
  material: string
}

/** The whole state of the endpoint. */
export interface KmsState {
  keys: KmsKey[]
  /** Pairs of `alias/NAME` and key id. */
  aliases: [name: string, keyId: string][]
}

export const NO_KEYS: KmsState = { keys: [], aliases: [] }

/** A new enabled key. `created` in Unix milliseconds. */
export function makeKey(spec: KeySpec, description: string, created: number): KmsKey {
  const material =
    spec === 'SYMMETRIC_DEFAULT'
      ? randomBytes(32)
      : generateKeyPairSync('ec', {
          namedCurve: 'P-256',
          privateKeyEncoding: { format: 'der', type: 'pkcs8' },
          publicKeyEncoding: { format: 'der', type: 'spki' },
        }).privateKey
  return { id: randomUUID(), spec, description, created, enabled: true, material: material.toString('base64') }
}

const privateKey = ({ material }: KmsKey): KeyObject =>
  createPrivateKey({ key: Buffer.from(material, 'base64'), format: 'der', type: 'pkcs8' })

/** SubjectPublicKeyInfo, DER. */
export const publicKeyOf = (key: KmsKey): Buffer =>
  createPublicKey(privateKey(key)).export({ format: 'der', type: 'spki' })

/** What a signature is over: the message itself, or its SHA-256 digest (32 bytes). */
export interface Signable {
  digest: boolean
  message: Uint8Array
}

/** ECDSA_SHA_256, DER. */
export const signWith = (key: KmsKey, { digest, message }: Signable): Buffer =>
  digest ? signDigest(privateKey(key), message) : sign('sha256', message, privateKey(key))

export const verifyWith = (key: KmsKey, { digest, message }: Signable, signature: Uint8Array): boolean =>
  digest
    ? verifyDigest(createPublicKey(privateKey(key)), message, signature)
    : verify('sha256', message, createPublicKey(privateKey(key)), signature)

/** Bound to the ciphertext; order of the pairs does not matter. */
export type EncryptionContext = Readonly<Record<string, string>>

const associated = (context: EncryptionContext): Buffer =>
  Buffer.from(JSON.stringify(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))))

const HEADER_BYTES = 16
const IV_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM: the key's id (16 bytes), a random IV (12), the tag (16), the ciphertext. */
export function encryptWith(key: KmsKey, plaintext: Uint8Array, context: EncryptionContext): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key.material, 'base64'), iv).setAAD(associated(context))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([Buffer.from(key.id.replaceAll('-', ''), 'hex'), iv, cipher.getAuthTag(), body])
}

/** The id of the key that a ciphertext names; nonsense for what is none. */
export const keyIdOf = (ciphertext: Uint8Array): string =>
  Buffer.from(ciphertext.subarray(0, HEADER_BYTES))
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** undefined when the ciphertext, the key or the context is not the one of the encryption. */
export function decryptWith(key: KmsKey, ciphertext: Uint8Array, context: EncryptionContext): Buffer | undefined {
  const iv = ciphertext.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES)
  const tag = ciphertext.subarray(HEADER_BYTES + IV_BYTES, HEADER_BYTES + IV_BYTES + TAG_BYTES)
  if (keyIdOf(ciphertext) !== key.id || tag.length !== TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key.material, 'base64'), iv)
    .setAAD(associated(context))
    .setAuthTag(tag)
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(HEADER_BYTES + IV_BYTES + TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
