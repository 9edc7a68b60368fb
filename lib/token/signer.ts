/** Defines the interface between tokens and the holder of the private keys. */

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
