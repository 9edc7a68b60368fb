/** Declares the keys that sign tokens, whose private parts their holder never gives away. */
import type { KeyObject } from 'node:crypto'

/** All operations reject if the key does not exist or the holder does not answer. */
export interface SigningKeys {
  /** Returns the public key, with an id that from now on means this key and no other. */
  publicKey(id: string): Promise<{ id: string; key: KeyObject }>
  /** Returns the ES256 signature (raw, 64 bytes) over `bytes`. */
  sign(id: string, bytes: Uint8Array): Promise<Uint8Array>
}

/** Opens the keys. They connect to nothing before the first operation. `called` is called for each request, each retry included. */
export type OpenKeys = (called: () => void) => SigningKeys
