/** Lists the algorithms with which an issuer may sign. All are asymmetric. Source: RFC 7518 section 3.1, RFC 8037. */

/** The key type and, where the algorithm fixes it, the curve of the key that each algorithm needs. */
const keyForms = {
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
} as const satisfies Record<string, { kty: string; crv?: string }>

export type SignatureAlgorithm = keyof typeof keyForms

export const signatureAlgorithms = Object.keys(keyForms) as readonly SignatureAlgorithm[]

/** The algorithms of a provider that names none. */
export const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ['RS256', 'ES256']

export const isAlgorithm = (value: unknown): value is SignatureAlgorithm =>
  typeof value === 'string' && Object.hasOwn(keyForms, value)

/** Reports whether a key of this form can verify signatures of the algorithm. */
export function fitsAlgorithm(key: { kty: string; crv?: string; alg?: string }, alg: SignatureAlgorithm): boolean {
  const form: { kty: string; crv?: string } = keyForms[alg]
  return key.kty === form.kty && (form.crv === undefined || key.crv === form.crv) && (key.alg ?? alg) === alg
}
