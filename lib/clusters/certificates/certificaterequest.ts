/**
 * Creates certificate requests (PKCS#10, RFC 2986). Only this module and x509.ts import @peculiar/x509, which is loaded
 * on demand.
 */
import { KeyObject } from 'node:crypto'

interface CertificateRequest {
  /** PEM, PKCS#8. */
  key: string
  /** PEM. */
  request: string
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/**
 * Returns a new P-256 key and a request for `user` (CN) in `groups` (one O each), as Kubernetes reads subjects. Every O
 * is a separate RDN: multiple values in one RDN are a set, which readers may sort or merge. UTF8String is explicit,
 * because the library would parse text that begins with `#` as DER.
 */
export async function createCertificateRequest(user: string, groups: readonly string[]): Promise<CertificateRequest> {
  const { Name, Pkcs10CertificateRequestGenerator } = await import('./x509.ts')
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const subject = new Name([...groups.map((group) => ({ O: [{ utf8String: group }] })), { CN: [{ utf8String: user }] }])
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: ALGORITHM,
  })
  return {
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: request.toString('pem'),
  }
}
