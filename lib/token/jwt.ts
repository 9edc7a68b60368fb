/** JSON Web Tokens in compact form (RFC 7515 section 7.1), signed outside of this process. */
import type { Claims } from './claims.ts'
import type { Signer } from './signer.ts'

/**
 * The longest token, in characters: with `Authorization: Bearer ` it fits one header line of the proxies in front of
 * clusters (nginx: 8 KiB). A chain of scopes may have 4 KiB; what else can grow are groups and audiences.
 */
export const MAX_TOKEN_LENGTH = 8000

/** RFC 7638 thumbprints have 43 characters, ES256 signatures 86. */
const KID_LENGTH = 43
const SIGNATURE_LENGTH = 86

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

const header = (kid: string) => encode({ alg: 'ES256', kid, typ: 'JWT' })

/** The length of the token that these claims will make, known before anything is signed. */
export const tokenLength = (claims: Claims): number =>
  header('k'.repeat(KID_LENGTH)).length + encode(claims).length + SIGNATURE_LENGTH + 2

/** Signs with the first key of the signer. Rejects as the signer does. */
export async function signToken(claims: Claims, signer: Signer): Promise<string> {
  const [{ kid }] = await signer.keys()
  const signed = `${header(kid)}.${encode(claims)}`
  const signature = await signer.sign(kid, Buffer.from(signed))
  return `${signed}.${Buffer.from(signature).toString('base64url')}`
}
