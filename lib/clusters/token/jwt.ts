/** Builds JSON Web Tokens in compact form (RFC 7515 section 7.1). A separate signer signs them. */
import type { Claims } from './claims.ts'
import type { PublicKey, Signer } from './signer.ts'

/**
 * Maximum length of a token, in characters. With `Authorization: Bearer ` it fits one header line of the proxies in
 * front of clusters (nginx: 8 KiB). The scope chain is limited to 4 KiB; groups and audiences also contribute.
 */
export const MAX_TOKEN_LENGTH = 8000

/** RFC 7638 thumbprints have 43 characters, ES256 signatures 86, and RS256 signatures with a key of 2048 bits 342. */
const KID_LENGTH = 43
const SIGNATURE_LENGTH = 342

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

const header = ({ alg, kid }: Pick<PublicKey, 'alg' | 'kid'>) => encode({ alg, kid, typ: 'JWT' })

/** Returns the length of the longest token for these claims, before anything is signed. It does not depend on the key, so a rotation refuses no scope. */
export const tokenLength = (claims: Claims): number =>
  header({ alg: 'RS256', kid: 'k'.repeat(KID_LENGTH) }).length + encode(claims).length + SIGNATURE_LENGTH + 2

/** Signs with the signer's first key. Rejects as the signer does. */
export async function signToken(claims: Claims, signer: Signer): Promise<string> {
  const [key] = await signer.keys()
  const signed = `${header(key)}.${encode(claims)}`
  const signature = await signer.sign(key.kid, Buffer.from(signed))
  return `${signed}.${Buffer.from(signature).toString('base64url')}`
}
