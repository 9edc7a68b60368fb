/**
 * Serves the KMS operations that keyplane calls, for its signing keys only, over AWS's own protocol and with its error names, so that the SDK's client
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
import { generateKmsKey, type KmsKey, type KmsState, NO_KEYS, publicKeyOf, signDigest } from './kmskeys.ts'

export interface KmsOptions {
  /** The file that stores the keys (mode 0600); in memory when absent. */
  path?: string
  region: string
  /** Twelve digits. */
  account: string
  verify: VerifySignature
}

export interface Kms extends AwsEndpoint {
  /** Returns the ARN of the signing key behind `alias/NAME`; creates both when they are missing. */
  ensureKey(alias: string): Promise<string>
}

/** Far above the largest call: a message of 4096 bytes in base64. */
const MAX_BODY_BYTES = 64 * 1024

const KEY = { KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY' } as const
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
      requireMember('KeySpec', choiceMember(input, 'KeySpec', [KEY.KeySpec]))
      requireMember('KeyUsage', choiceMember(input, 'KeyUsage', [KEY.KeyUsage]))
      const key = generateKmsKey()
      await stored.change(({ keys }) => keys.push(key))
      return { KeyMetadata: { Arn: prefix + key.id, KeyId: key.id, ...KEY } }
    },

    GetPublicKey(input) {
      const key = keyOf(input)
      return {
        KeyId: prefix + key.id,
        PublicKey: publicKeyOf(key).toString('base64'),
        ...KEY,
        SigningAlgorithms: [ALGORITHM],
      }
    },

    /** Signs digests only: a raw message is limited to 4096 bytes, which is too short for a token. */
    Sign(input) {
      const key = keyOf(input)
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
    async ensureKey(alias) {
      const known = stored.state.aliases.find(([name]) => name === alias)
      if (known) return prefix + known[1]
      const key = generateKmsKey()
      await stored.change(({ keys, aliases }) => {
        keys.push(key)
        aliases.push([alias, key.id])
      })
      return prefix + key.id
    },
  }
}
