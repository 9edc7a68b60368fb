/** The port between tokens and whatever holds the private keys. */

/** A public P-256 key as it is published. `kid` is its RFC 7638 thumbprint. */
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
   * Every key that may have signed a token that is still alive; never empty. The first one signs, the rest is there to
   * be published: a new key is listed one deploy before it becomes the first.
   */
  keys(): Promise<readonly [PublicKey, ...PublicKey[]]>
  /** The ES256 signature (raw, 64 bytes) over `bytes` with a key of `keys()`. Rejects with a StatusError (503). */
  sign(kid: string, bytes: Uint8Array): Promise<Uint8Array>
}
