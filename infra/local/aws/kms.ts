/**
 * Serves the KMS operations that keyplane calls, over AWS's own protocol and with its error names, so that the SDK's client
 * works unchanged. Source: AWS KMS API Reference (2014-11-01).
 */
import { openStored } from '../host/stored.ts'
import { bytesMember, choiceMember, requireMember, textMember } from './awsinput.ts'
import {
  type AwsEndpoint,
  AwsError,
  type AwsInput,
  type AwsOperation,
  serveAwsJson,
  type VerifySignature,
} from './awsjson.ts'
import {
  decryptWith,
  type EncryptionContext,
  encryptWith,
  generateKmsKey,
  type KmsKey,
  type KmsKeySpec,
  type KmsState,
  keyIdOf,
  NO_KEYS,
  publicKeyOf,
  signDigest,
} from './kmskeys.ts'

export interface KmsOptions {
  /** The file that stores the keys (mode 0600); in memory when absent. */
  path?: string
  region: string
  /** Twelve digits. */
  account: string
  verify: VerifySignature
}

export interface Kms extends AwsEndpoint {
  /** Returns the ARN of the key behind `alias/NAME`; creates both when they are missing. */
  ensureKey(alias: string, spec: KmsKeySpec): Promise<string>
  /** Encrypts a secret of any length; KMS's own Encrypt accepts at most 4096 bytes. `key` is an ID or ARN. */
  seal(key: string, plaintext: Uint8Array, context: EncryptionContext): Buffer
  /** Reverses `seal`. Throws an AwsError for a damaged ciphertext, an unknown key or another context. */
  open(ciphertext: Uint8Array, context: EncryptionContext): Buffer
}

/** Far above the largest call: a message of 4096 bytes in base64. */
const MAX_BODY_BYTES = 64 * 1024

const USAGE = { ECC_NIST_P256: 'SIGN_VERIFY', SYMMETRIC_DEFAULT: 'ENCRYPT_DECRYPT' } as const
const SPECS = ['ECC_NIST_P256', 'SYMMETRIC_DEFAULT'] as const
const ALGORITHM = 'ECDSA_SHA_256'
const DIGEST_BYTES = 32

/** Starts the endpoint. Throws a StartupError when the file is damaged. */
export async function startKms({ path, region, account, verify }: KmsOptions): Promise<Kms> {
  const stored = await openStored<KmsState>(path, NO_KEYS)
  const prefix = `arn:aws:kms:${region}:${account}:key/`

  function find(reference: string): KmsKey {
    const id = reference.startsWith(prefix) ? reference.slice(prefix.length) : reference
    const key = stored.state.keys.find((one) => one.id === id)
    if (!key) throw new AwsError('NotFoundException', `Key '${prefix}${id}' does not exist`)
    return key
  }

  const keyOf = (input: AwsInput): KmsKey => find(requireMember('KeyId', textMember(input, 'KeyId', 1, 2048)))

  const operations: Record<string, AwsOperation> = {
    async CreateKey(input) {
      const spec = choiceMember(input, 'KeySpec', SPECS) ?? 'SYMMETRIC_DEFAULT'
      const usage = choiceMember(input, 'KeyUsage', Object.values(USAGE)) ?? 'ENCRYPT_DECRYPT'
      if (usage !== USAGE[spec])
        throw new AwsError('ValidationException', `KeyUsage ${usage} is not compatible with KeySpec ${spec}`)
      const key = generateKmsKey(spec)
      await stored.change(({ keys }) => keys.push(key))
      return { KeyMetadata: { Arn: prefix + key.id, KeyId: key.id, KeySpec: spec, KeyUsage: usage } }
    },

    GetPublicKey(input) {
      const key = keyOf(input)
      if (key.spec !== 'ECC_NIST_P256')
        throw new AwsError('UnsupportedOperationException', `${prefix}${key.id} is symmetric and has no public key.`)
      return {
        KeyId: prefix + key.id,
        PublicKey: publicKeyOf(key).toString('base64'),
        KeySpec: key.spec,
        KeyUsage: USAGE[key.spec],
        SigningAlgorithms: [ALGORITHM],
      }
    },

    /** Signs digests only: a raw message is limited to 4096 bytes, which is too short for a token. */
    Sign(input) {
      const key = keyOf(input)
      if (key.spec !== 'ECC_NIST_P256')
        throw new AwsError(
          'InvalidKeyUsageException',
          `${prefix}${key.id} key usage is ${USAGE[key.spec]} which is not valid for Sign.`,
        )
      requireMember('SigningAlgorithm', choiceMember(input, 'SigningAlgorithm', [ALGORITHM]))
      requireMember('MessageType', choiceMember(input, 'MessageType', ['DIGEST']))
      const digest = requireMember('Message', bytesMember(input, 'Message', 1, 4096))
      if (digest.length !== DIGEST_BYTES)
        throw new AwsError('ValidationException', `Digest is invalid length for algorithm ${ALGORITHM}.`)
      const signature = signDigest(key, digest).toString('base64')
      return { KeyId: prefix + key.id, Signature: signature, SigningAlgorithm: ALGORITHM }
    },
  }

  const endpoint = await serveAwsJson(
    {
      target: 'TrentService',
      signingName: 'kms',
      operations: new Map(Object.entries(operations)),
      maxBodyBytes: MAX_BODY_BYTES,
    },
    verify,
  )

  return {
    ...endpoint,
    seal: (reference, plaintext, context) => encryptWith(find(reference), plaintext, context),
    open(ciphertext, context) {
      const key = stored.state.keys.find(({ id }) => id === keyIdOf(ciphertext))
      const plaintext = key && decryptWith(key, ciphertext, context)
      if (!plaintext) throw new AwsError('InvalidCiphertextException', 'The ciphertext is not valid for this context.')
      return plaintext
    },
    async ensureKey(alias, spec) {
      const known = stored.state.aliases.find(([name]) => name === alias)
      if (known) return prefix + known[1]
      const key = generateKmsKey(spec)
      await stored.change(({ keys, aliases }) => {
        keys.push(key)
        aliases.push([alias, key.id])
      })
      return prefix + key.id
    },
  }
}
