/** Signs tokens with the keys of a deployment, and publishes their public parts. */
import { createHash, type KeyObject, verify } from 'node:crypto'
import { serviceUnavailable } from '../../meta/errors/status.ts'
import { keepFetched } from '../../outbound/fetched.ts'
import type { SigningKeys } from './signingkeys.ts'

/** A public P-256 key in its published form. `kid` is its RFC 7638 thumbprint. */
export interface PublicKey {
  kid: string
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
  alg: 'ES256'
  use: 'sig'
}

export interface Signer {
  /**
   * Returns every key that may have signed a still valid token; never empty. The first key signs. The others are only
   * published: a new key is listed one deploy before it becomes the first.
   */
  keys(): Promise<readonly [PublicKey, ...PublicKey[]]>
  /**
   * Returns the ES256 signature (raw, 64 bytes) over `bytes` with one of `keys()`. Rejects with a StatusError (503).
   */
  sign(kid: string, bytes: Uint8Array): Promise<Uint8Array>
}

interface Loaded {
  id: string
  key: KeyObject
  published: PublicKey
}

/**
 * Returns a Signer for P-256 keys. The first key signs; all are published. Public keys never change, so they are read once and cached; a
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
        const raw = await keys().sign(one.id, bytes)
        // Never return a token that the published key would not verify.
        if (verify('sha256', bytes, { key: one.key, dsaEncoding: 'ieee-p1363' }, raw)) return raw
        throw new Error('the signature does not verify with the published key')
      } catch (cause) {
        throw unavailable(cause)
      }
    },
  }
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
