/**
 * Signs with keys whose private parts never leave AWS KMS. Only this module and kmsclient.ts import
 * @aws-sdk/client-kms.
 */
import { createHash, createPublicKey } from 'node:crypto'
import type { KMSClient, KMSClientConfig } from '@aws-sdk/client-kms'
import { countRequests } from '../../engine/outbound/countrequests.ts'
import { keepFetched } from '../../engine/outbound/fetched.ts'
import { derToRaw } from './dertoraw.ts'
import type { OpenKeys, SigningAlgorithm, SigningKeys } from './signingkeys.ts'

const sdk = () => import('./kmsclient.ts')

/**
 * Returns the client. Only the SDK retries throttling and broken connections. It makes at most 3 attempts of 3 s each, so that a handler
 * can still respond before its timeout of 20 s.
 */
export async function connectKms(config: KMSClientConfig = {}): Promise<KMSClient> {
  const { KMSClient } = await sdk()
  return new KMSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    ...config,
  })
}

/** The names of the algorithms in KMS. */
const ALGORITHMS = {
  ES256: 'ECDSA_SHA_256',
  RS256: 'RSASSA_PKCS1_V1_5_SHA_256',
} as const satisfies Record<SigningAlgorithm, string>

/** Returns the keys of usage SIGN_VERIFY and key spec ECC_NIST_P256 or RSA_2048. */
export const kmsKeys = (connect: () => Promise<KMSClient>): SigningKeys => ({
  async publicKey(id) {
    const { GetPublicKeyCommand } = await sdk()
    const client = await connect()
    // The ARN, because an alias may point to another key later.
    const { KeyId = id, PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId: id }))
    return { id: KeyId, key: createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' }) }
  },

  async sign(id, bytes, algorithm) {
    const { SignCommand } = await sdk()
    const client = await connect()
    const { Signature = new Uint8Array() } = await client.send(
      new SignCommand({
        KeyId: id,
        // A digest, because KMS limits raw messages to 4096 bytes.
        Message: createHash('sha256').update(bytes).digest(),
        MessageType: 'DIGEST',
        SigningAlgorithm: ALGORITHMS[algorithm],
      }),
    )
    return algorithm === 'ES256' ? derToRaw(Signature) : Signature
  },
})

export const openKeys: OpenKeys = (called) =>
  kmsKeys(keepFetched(async () => countRequests(await connectKms(), called)).get)
