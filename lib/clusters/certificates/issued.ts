/** Checks that a certificate is the requested one. */
import type { X509Certificate } from 'node:crypto'
// `toLegacyObject` loads internals of TLS. Where it is the first to do so, Node.js leaves node:tls without createSecureContext, which
// breaks every later connection of the process.
import 'node:tls'
import { parseCertificates, parsePrivateKey, toPem } from '../cluster/pem.ts'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
/** Limit for the signer's whole answer, which is passed on to clients. A chain has a few KiB. */
const MAX_LENGTH = 64 * 1024
/** Signers backdate by 5 minutes, and clocks differ. */
const SKEW_MS = 5 * 60_000

export interface Expected {
  /** PEM of the private key. */
  key: string
  user: string
  groups: readonly string[]
  now: Date
  /** Maximum validity. When absent, the signer decides. */
  maxSeconds?: number
}

export interface IssuedCertificate {
  /** PEM: the certificate, followed by the chain to its authority. */
  certificate: string
  /** The actual expiry, which the signer may have changed. */
  notAfter: Date
  /** Hexadecimal. */
  serial: string
}

/** Returns the certificate in canonical PEM with its actual expiry, or a public description of the problem. */
export function checkIssuedCertificate(pem: string, expected: Expected): IssuedCertificate | { problem: string } {
  if (pem.length > MAX_LENGTH) return { problem: 'it is too large' }
  const chain = parseCertificates(pem)
  if (!chain) return { problem: 'it cannot be read' }
  const [own, ...authorities] = chain
  const problem = chainProblem(own, authorities) ?? subjectProblem(own, expected) ?? timeProblem(own, expected)
  if (problem !== undefined) return { problem }
  return { certificate: toPem(chain), notAfter: own.validToDate, serial: own.serialNumber }
}

function chainProblem(own: X509Certificate, authorities: readonly X509Certificate[]): string | undefined {
  let below = own
  for (const authority of authorities) {
    if (!below.checkIssued(authority) || !below.verify(authority.publicKey)) return 'its chain is not in order'
    below = authority
  }
  return undefined
}

function subjectProblem(own: X509Certificate, { key, user, groups }: Expected): string | undefined {
  const ours = parsePrivateKey(key)
  if (!ours || !own.checkPrivateKey(ours)) return 'it is for another key'
  const { subject, ext_key_usage: usages } = own.toLegacyObject()
  const { CN, O } = subject as { CN?: string | string[]; O?: string | string[] }
  if (CN !== user) return 'it is for another user'
  const named = [O ?? []].flat()
  if (JSON.stringify(named.sort()) !== JSON.stringify([...groups].sort())) return 'it is for other groups'
  if (own.ca) return 'it is an authority'
  // Not `keyUsage` of X509Certificate: for a malformed list it leaves an error that breaks TLS connections of the process.
  return usages?.includes(CLIENT_AUTH) ? undefined : 'it is not for clients'
}

function timeProblem(own: X509Certificate, { now, maxSeconds }: Expected): string | undefined {
  const time = now.getTime()
  // Parse the text form: for an invalid time, the Date properties of X509Certificate come from uninitialized memory.
  const [from, to] = [Date.parse(own.validFrom), Date.parse(own.validTo)]
  // Every comparison below is false for NaN.
  if (Number.isNaN(from) || Number.isNaN(to)) return 'it has no time'
  if (to <= time) return 'it has expired'
  if (from > time + SKEW_MS) return 'it is not valid yet'
  const tooLong = maxSeconds !== undefined && to > time + maxSeconds * 1000 + SKEW_MS
  return tooLong ? 'it is valid for longer than this deployment allows' : undefined
}
