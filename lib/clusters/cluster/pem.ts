/** Reads and writes certificates and keys in PEM (RFC 7468), and PEM in base64 as in kube configs and Secrets. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { hasSoundCertificateKey, isSoundPrivateKey, type PrivateFormat } from '../../engine/meta/encoding/keysizes.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g
/** Encrypted keys have other names, or headers with a colon. */
const PRIVATE_KEY = /-----BEGIN (|RSA |EC )PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END (|RSA |EC )PRIVATE KEY-----/g
const FORMATS: Readonly<Record<string, PrivateFormat>> = { '': 'pkcs8', 'RSA ': 'pkcs1', 'EC ': 'sec1' }
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Decodes standard base64 (line breaks allowed). Returns undefined for anything else. */
export function fromBase64(encoded: string): string | undefined {
  const bare = encoded.replace(/[\r\n]/g, '')
  return BASE64.test(bare) && bare.length % 4 === 0 ? Buffer.from(bare, 'base64').toString('utf8') : undefined
}

export const toBase64 = (value: string): string => Buffer.from(value).toString('base64')

/** Returns all certificates of a PEM text, in order, or undefined when there is none, or one is unreadable or has a key of another size. */
export function parseCertificates(pem: string): [X509Certificate, ...X509Certificate[]] | undefined {
  const blocks = [...pem.matchAll(BLOCK)].map(([, text = '']) => Buffer.from(text, 'base64'))
  if (!blocks.every(hasSoundCertificateKey)) return undefined
  try {
    const [first, ...others] = blocks.map((der) => new X509Certificate(der))
    return first && [first, ...others]
  } catch {
    return undefined
  }
}

/** Reports whether the text has a PEM block other than of a certificate, above all a private key, however damaged. */
export const hasOtherBlocks = (pem: string): boolean => /- ?BEGIN |PRIVATE KEY/i.test(pem.replaceAll(BLOCK, ''))

/** Returns certificates as PEM, without the text that files may have between them. */
export const toPem = (chain: readonly X509Certificate[]): string => chain.map((one) => one.toString()).join('')

/** Returns the first unencrypted private key of a PEM text, or undefined when there is none or it has another size. */
export function parsePrivateKey(pem: string): KeyObject | undefined {
  const blocks = pem.matchAll(PRIVATE_KEY)
  const [, name = '', text = ''] = blocks.find(([, begun, , ended]) => begun === ended) ?? []
  const key = Buffer.from(text, 'base64')
  const type = FORMATS[name] ?? 'pkcs8'
  if (!isSoundPrivateKey(key, type)) return undefined
  try {
    return createPrivateKey({ key, format: 'der', type })
  } catch {
    return undefined
  }
}
