/** Reads and writes certificates and keys in PEM (RFC 7468), and PEM in base64 as in kube configs and Secrets. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Decodes standard base64 (line breaks allowed). Returns undefined for anything else. */
export function fromBase64(encoded: string): string | undefined {
  const bare = encoded.replace(/[\r\n]/g, '')
  return BASE64.test(bare) && bare.length % 4 === 0 ? Buffer.from(bare, 'base64').toString('utf8') : undefined
}

export const toBase64 = (value: string): string => Buffer.from(value).toString('base64')

/** Returns all certificates of a PEM text, in order, or undefined when there is none or one is unreadable. */
export function parseCertificates(pem: string): [X509Certificate, ...X509Certificate[]] | undefined {
  try {
    const [first, ...others] = (pem.match(BLOCK) ?? []).map((block) => new X509Certificate(block))
    return first && [first, ...others]
  } catch {
    return undefined
  }
}

/** Returns certificates as PEM, without the text that files may have between them. */
export const toPem = (chain: readonly X509Certificate[]): string => chain.map((one) => one.toString()).join('')

/** Returns an unencrypted private key, or undefined for anything else. */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem)
  } catch {
    return undefined
  }
}
