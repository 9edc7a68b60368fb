/** Declares the keys that sign tokens, whose private parts their holder never gives away. */
import type { KeyObject } from 'node:crypto'

/** The JWS algorithms of the keys (RFC 7518 section 3.1): ES256 with a P-256 key, and RS256 with an RSA key. */
export type SigningAlgorithm = 'ES256' | 'RS256'

/** All operations reject if the key does not exist or the holder does not answer. */
export interface SigningKeys {
  /** Returns the public key, with an id that from now on means this key and no other. */
  publicKey(id: string): Promise<{ id: string; key: KeyObject }>
  /** Returns the signature over `bytes` as JWS has it: 64 bytes with ES256, and as many as the modulus with RS256. */
  sign(id: string, bytes: Uint8Array, algorithm: SigningAlgorithm): Promise<Uint8Array>
}

/** Opens the keys. They connect to nothing before the first operation. `called` is called for each request, each retry included. */
export type OpenKeys = (called: () => void) => SigningKeys
