/** Builds JSON Web Tokens in compact form (RFC 7515 section 7.1). A separate signer signs them. */
import type { Claims } from './claims.ts'
import type { Signer } from './signer.ts'

/**
 * Maximum length of a token, in characters. With `Authorization: Bearer ` it fits one header line of the proxies in
 * front of clusters (nginx: 8 KiB). The scope chain is limited to 4 KiB; groups and audiences also contribute.
 */
export const MAX_TOKEN_LENGTH = 8000

/** RFC 7638 thumbprints have 43 characters, ES256 signatures 86. */
const KID_LENGTH = 43
const SIGNATURE_LENGTH = 86

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

const header = (kid: string) => encode({ alg: 'ES256', kid, typ: 'JWT' })

/** Returns the length that the token for these claims will have, before anything is signed. */
export const tokenLength = (claims: Claims): number =>
  header('k'.repeat(KID_LENGTH)).length + encode(claims).length + SIGNATURE_LENGTH + 2

/** Signs with the signer's first key. Rejects as the signer does. */
export async function signToken(claims: Claims, signer: Signer): Promise<string> {
  const [{ kid }] = await signer.keys()
  const signed = `${header(kid)}.${encode(claims)}`
  const signature = await signer.sign(kid, Buffer.from(signed))
  return `${signed}.${Buffer.from(signature).toString('base64url')}`
}
