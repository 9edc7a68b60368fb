/** Signs tokens with the keys of a deployment, and publishes their public parts. */
import { createHash, type KeyObject, verify } from 'node:crypto'
import { serviceUnavailable } from '../../engine/meta/errors/status.ts'
import { keepFetched } from '../../engine/outbound/fetched.ts'
import type { SigningKeys } from './signingkeys.ts'

/** A public key in its published form (RFC 7517). `kid` is its RFC 7638 thumbprint. */
export type PublicKey = Members & { kid: string; use: 'sig' }

type Members =
  | { alg: 'ES256'; kty: 'EC'; crv: 'P-256'; x: string; y: string }
  | { alg: 'RS256'; kty: 'RSA'; n: string; e: string }

export interface Signer {
  /**
   * Returns every key that may have signed a still valid token; never empty. The first key signs. The others are only
   * published: a new key is listed one deploy before it becomes the first.
   */
  keys(): Promise<readonly [PublicKey, ...PublicKey[]]>
  /**
   * Returns the JWS signature over `bytes` with one of `keys()`. Rejects with a StatusError (503).
   */
  sign(kid: string, bytes: Uint8Array): Promise<Uint8Array>
}

interface Loaded {
  id: string
  key: KeyObject
  published: PublicKey
}

/**
 * Returns a Signer for P-256 keys and RSA keys of at least 2048 bits. The first key signs; all are published. Public keys never change, so they are read once and cached; a
 * failed read is retried at the next call. All failures are 503 without internal details; the cause is for the log.
 */
export function createSigner(keyIds: readonly [string, ...string[]], keys: () => SigningKeys): Signer {
  async function load(keyId: string): Promise<Loaded> {
    const { id, key } = await keys().publicKey(keyId)
    return { id, key, published: publish(key) }
  }

  const loaded = keepFetched(async () => {
    const [first, ...others] = keyIds
    return Promise.all([load(first), ...others.map((one) => load(one))])
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
        const signature = await keys().sign(one.id, bytes, one.published.alg)
        // Never return a token that the published key would not verify.
        if (verify('sha256', bytes, { key: one.key, dsaEncoding: 'ieee-p1363' }, signature)) return signature
        throw new Error('the signature does not verify with the published key')
      } catch (cause) {
        throw unavailable(cause)
      }
    },
  }
}

function publish(key: KeyObject): PublicKey {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' })
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (kty === 'EC' && crv === 'P-256' && x !== undefined && y !== undefined)
    return { kid: thumbprint({ crv, kty, x, y }), kty, crv, x, y, alg: 'ES256', use: 'sig' }
  if (kty === 'RSA' && bits >= 2048 && n !== undefined && e !== undefined)
    return { kid: thumbprint({ e, kty, n }), kty, n, e, alg: 'RS256', use: 'sig' }
  throw new Error('neither a P-256 key nor an RSA key of at least 2048 bits')
}

/** Returns the thumbprint of a key (RFC 7638), whose members must be in alphabetical order. Every function loads this module, so it does without jose. */
const thumbprint = (members: object): string => createHash('sha256').update(JSON.stringify(members)).digest('base64url')

const unavailable = (cause: unknown) => serviceUnavailable('the token signer is not available', undefined, cause)
