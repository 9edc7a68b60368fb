/** KMS operations that use a key. Source: AWS KMS API Reference. */
import { bytes, oneOf, required, text, textMap } from './awsinput.ts'
import { AwsError, type AwsInput, type AwsOperation } from './awsjson.ts'
import type { KmsDirectory } from './kmsdirectory.ts'
import {
  ALGORITHM,
  decryptWith,
  type EncryptionContext,
  encryptWith,
  type KmsKey,
  keyIdOf,
  type Signable,
  signWith,
  USAGE,
  verifyWith,
} from './kmskeys.ts'

const DIGEST_BYTES = 32
const MAX_PLAINTEXT_BYTES = 4096
const MAX_CIPHERTEXT_BYTES = 6144

/** Throws InvalidCiphertextException for a damaged ciphertext, a strange one, and another context alike. */
export function decrypt(directory: KmsDirectory, ciphertext: Uint8Array, context: EncryptionContext): Buffer {
  const key = directory.stored.state.keys.find(({ id }) => id === keyIdOf(ciphertext))
  if (key) directory.requireEnabled(key)
  const plaintext = key && decryptWith(key, ciphertext, context)
  if (!plaintext) throw new AwsError('InvalidCiphertextException', 'The ciphertext is not valid for this context.')
  return plaintext
}

export function kmsCryptography(directory: KmsDirectory): Record<string, AwsOperation> {
  const { keyArn, keyOf, requireEnabled } = directory

  function usable(input: AwsInput, operation: 'Sign' | 'Verify' | 'Encrypt' | 'Decrypt'): KmsKey {
    const key = keyOf(input)
    requireEnabled(key)
    const wanted = operation === 'Sign' || operation === 'Verify' ? 'SIGN_VERIFY' : 'ENCRYPT_DECRYPT'
    if (USAGE[key.spec] !== wanted)
      throw new AwsError(
        'InvalidKeyUsageException',
        `${keyArn(key.id)} key usage is ${USAGE[key.spec]} which is not valid for ${operation}.`,
      )
    return key
  }

  return {
    Sign(input) {
      const key = usable(input, 'Sign')
      const signature = signWith(key, signableOf(input, key)).toString('base64')
      return { KeyId: keyArn(key.id), Signature: signature, SigningAlgorithm: ALGORITHM[key.spec] }
    },

    Verify(input) {
      const key = usable(input, 'Verify')
      const signable = signableOf(input, key)
      if (!verifyWith(key, signable, required('Signature', bytes(input, 'Signature', 1, 6144))))
        throw new AwsError('KMSInvalidSignatureException', 'The signature is not one of this message and key.')
      return { KeyId: keyArn(key.id), SignatureValid: true, SigningAlgorithm: ALGORITHM[key.spec] }
    },

    Encrypt(input) {
      const key = usable(input, 'Encrypt')
      checkAlgorithm(key, text(input, 'EncryptionAlgorithm', 1, 64) ?? ALGORITHM.SYMMETRIC_DEFAULT)
      const plaintext = required('Plaintext', bytes(input, 'Plaintext', 1, MAX_PLAINTEXT_BYTES))
      const ciphertext = encryptWith(key, plaintext, textMap(input, 'EncryptionContext') ?? {})
      return {
        KeyId: keyArn(key.id),
        CiphertextBlob: ciphertext.toString('base64'),
        EncryptionAlgorithm: ALGORITHM[key.spec],
      }
    },

    Decrypt(input) {
      const ciphertext = required('CiphertextBlob', bytes(input, 'CiphertextBlob', 1, MAX_CIPHERTEXT_BYTES))
      const key = input.KeyId === undefined ? undefined : usable(input, 'Decrypt')
      if (key) checkAlgorithm(key, text(input, 'EncryptionAlgorithm', 1, 64) ?? ALGORITHM.SYMMETRIC_DEFAULT)
      if (key && key.id !== keyIdOf(ciphertext))
        throw new AwsError(
          'IncorrectKeyException',
          'The key ID in the request does not identify a CMK that can perform this operation.',
        )
      const plaintext = decrypt(directory, ciphertext, textMap(input, 'EncryptionContext') ?? {})
      return {
        KeyId: keyArn(keyIdOf(ciphertext)),
        Plaintext: plaintext.toString('base64'),
        EncryptionAlgorithm: ALGORITHM.SYMMETRIC_DEFAULT,
      }
    },
  }
}

function checkAlgorithm(key: KmsKey, algorithm: string): void {
  if (algorithm !== ALGORITHM[key.spec])
    throw new AwsError('InvalidKeyUsageException', `Algorithm ${algorithm} is incompatible with key spec ${key.spec}.`)
}

function signableOf(input: AwsInput, key: KmsKey): Signable {
  const digest = oneOf(input, 'MessageType', ['RAW', 'DIGEST']) === 'DIGEST'
  const message = required('Message', bytes(input, 'Message', 1, 4096))
  checkAlgorithm(key, required('SigningAlgorithm', text(input, 'SigningAlgorithm', 1, 64)))
  if (digest && message.length !== DIGEST_BYTES)
    throw new AwsError('ValidationException', `Digest is invalid length for algorithm ${ALGORITHM[key.spec]}.`)
  return { digest, message }
}
