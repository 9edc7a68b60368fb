/**
 * Implements a Signer whose private keys never leave AWS KMS. Only this module and kmsclient.ts import
 * @aws-sdk/client-kms.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { KMSClient, KMSClientConfig } from '@aws-sdk/client-kms'
import { serviceUnavailable } from '../meta/errors/status.ts'
import { keepFetched } from '../outbound/fetched.ts'
import { derToRaw } from './dertoraw.ts'
import type { PublicKey, Signer } from './signer.ts'

const sdk = () => import('./kmsclient.ts')

/**
 * Returns the client for `kmsSigner`. Only the SDK retries throttling and broken connections. It makes at most 3
 * attempts of 3 s each, so that a handler can still respond before its timeout of 20 s.
 */
export async function connectKms(config: KMSClientConfig = {}): Promise<KMSClient> {
  const { KMSClient } = await sdk()
  return new KMSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    ...config,
  })
}

interface Loaded {
  arn: string
  key: KeyObject
  published: PublicKey
}

/**
 * Returns a Signer for KMS keys of key spec ECC_NIST_P256 and usage SIGN_VERIFY. The first key signs; all are
 * published. Public keys never change, so they are read once and cached; a failed read is retried at the next call. All
 * failures are 503 without internal details; the cause is for the log.
 */
export function kmsSigner(keyIds: readonly [string, ...string[]], connect: () => Promise<KMSClient>): Signer {
  async function load(client: KMSClient, keyId: string): Promise<Loaded> {
    const { GetPublicKeyCommand } = await sdk()
    const { KeyId = keyId, PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId: keyId }))
    const key = createPublicKey({ key: Buffer.from(PublicKey), format: 'der', type: 'spki' })
    return { arn: KeyId, key, published: publish(key) }
  }

  const loaded = keepFetched(async () => {
    const client = await connect()
    const [first, ...others] = keyIds
    return Promise.all([load(client, first), ...others.map((one) => load(client, one))])
  })

  const loadedKeys = () =>
    loaded.get().catch((cause: unknown) => {
      throw unavailable(cause)
    })

  return {
    async keys() {
      const [first, ...others] = await loadedKeys()
      return [first.published, ...others.map(({ published }) => published)]
    },

    async sign(kid, bytes) {
      const one = (await loadedKeys()).find(({ published }) => published.kid === kid)
      if (!one) throw unavailable(new Error('asked to sign with a key that is not configured'))
      try {
        return await signWith(await connect(), one, bytes)
      } catch (cause) {
        throw unavailable(cause)
      }
    },
  }
}

async function signWith(client: KMSClient, { arn, key }: Loaded, bytes: Uint8Array): Promise<Uint8Array> {
  const { SignCommand } = await sdk()
  const { Signature = new Uint8Array() } = await client.send(
    new SignCommand({
      // The ARN returned with the public key, because an alias may point to another key by now.
      KeyId: arn,
      // A digest, because KMS limits raw messages to 4096 bytes.
      Message: createHash('sha256').update(bytes).digest(),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    }),
  )
  const raw = derToRaw(Signature)
  // Never return a token that the published key would not verify.
  if (!verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, raw)) {
    throw new Error('the signature does not verify with the published key')
  }
  return raw
}

function publish(key: KeyObject): PublicKey {
  const { kty, crv, x, y } = key.export({ format: 'jwk' })
  if (kty !== 'EC' || crv !== 'P-256' || x === undefined || y === undefined) throw new Error('not a P-256 key')
  return { kid: thumbprint({ crv, kty, x, y }), kty, crv, x, y, alg: 'ES256', use: 'sig' }
}

/** Returns the thumbprint of a key (RFC 7638), whose members must be in alphabetical order. Every function loads this module, so it does without jose. */
const thumbprint = (members: { crv: string; kty: string; x: string; y: string }): string =>
  createHash('sha256').update(JSON.stringify(members)).digest('base64url')

const unavailable = (cause: unknown) => serviceUnavailable('the token signer is not available', undefined, cause)
