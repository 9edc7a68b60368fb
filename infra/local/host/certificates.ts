/**
 * Issues certificates from local authorities. All keys are P-256; subjects have one RDN per name, as Kubernetes reads them.
 * Source: RFC 5280. The sole importer of @peculiar/x509 in infra.
 */
import 'reflect-metadata'
import { createPrivateKey, KeyObject, randomBytes, type webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { hasSoundRequestKey } from '../../../lib/engine/meta/encoding/keysizes.ts'
import { rfc3339 } from '../../../lib/engine/meta/encoding/time.ts'

/** PEM of a certificate and of its private key (PKCS#8). */
export interface KeyPair {
  certificate: string
  key: string
}

export interface Validity {
  notBefore: Date
  notAfter: Date
}

export interface Subject {
  commonName: string
  organizations?: readonly string[]
}

/** The Kubernetes usages that a client or server certificate can have. */
export type Usage = 'digital signature' | 'key encipherment' | 'client auth' | 'server auth'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const MINUTE = 60_000
const DAY = 86_400_000

/** Tolerance for clock skew. */
const BACKDATE = 5 * MINUTE

/** Returns a validity period that starts five minutes ago and lasts `days`. */
export const validFor = (days: number, now: number): Validity => ({
  notBefore: new Date(now - BACKDATE),
  notAfter: new Date(now + days * DAY),
})

/** Creates an authority that signs leaf certificates only. */
export async function makeAuthority(commonName: string, validity: Validity): Promise<KeyPair> {
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: newSerialNumber(),
    name: nameOf({ commonName }),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: pemOf(keys.privateKey) }
}

/** Issues a server certificate; `hosts` are names and IP addresses. */
export async function issueServing(
  authority: KeyPair,
  hosts: readonly string[],
  usages: readonly Usage[],
  validity: Validity,
): Promise<KeyPair> {
  const keys = await newKeys()
  const names = hosts.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? ('ip' as const) : ('dns' as const), value }))
  const certificate = await sign(authority, {
    ...validity,
    subject: nameOf({ commonName: hosts[0] ?? '' }),
    publicKey: keys.publicKey,
    usages: ['digital signature', ...usages],
    extensions: [new x509.SubjectAlternativeNameExtension(names)],
  })
  return { certificate, key: pemOf(keys.privateKey) }
}

/** Issues a client certificate with a new key. */
export async function issueClient(authority: KeyPair, subject: Subject, validity: Validity): Promise<KeyPair> {
  const keys = await newKeys()
  const certificate = await sign(authority, {
    ...validity,
    subject: nameOf(subject),
    publicKey: keys.publicKey,
    usages: ['digital signature', 'client auth'],
    extensions: [],
  })
  return { certificate, key: pemOf(keys.privateKey) }
}

const BEGIN_REQUEST = '-----BEGIN CERTIFICATE REQUEST-----'
const END_REQUEST = '-----END CERTIFICATE REQUEST-----'

/** Reports whether the text ends with one PEM block of that type, which starts on a new line. */
function endsInRequest(text: string): boolean {
  const pem = text.trimEnd()
  const from = pem.lastIndexOf(BEGIN_REQUEST)
  if (from < 0 || (from > 0 && pem[from - 1] !== '\n') || !pem.endsWith(END_REQUEST)) return false
  const inside = pem.slice(from + BEGIN_REQUEST.length, -END_REQUEST.length)
  return /^\s/.test(inside) && !inside.includes('-')
}

/** A parsed PKCS#10 request with a verified signature. */
export interface ParsedRequest {
  organizations: string[]
  /** Returns the PEM of a certificate with only the request's subject, key and alternative names. */
  sign(authority: KeyPair, usages: readonly Usage[], validity: Validity): Promise<string>
}

/** Parses a request. Throws an Error with a short reason for invalid PEM, an invalid request or an invalid signature. */
export async function parseRequest(pem: string): Promise<ParsedRequest> {
  if (!endsInRequest(pem)) throw new Error('PEM block type must be CERTIFICATE REQUEST')
  let request: x509.Pkcs10CertificateRequest
  let verified: boolean
  try {
    request = new x509.Pkcs10CertificateRequest(pem)
    if (!hasSoundRequestKey(Buffer.from(request.rawData))) throw new Error('its key has another size')
    verified = await request.verify()
  } catch {
    throw new Error('x509: malformed certificate request')
  }
  if (!verified) throw new Error('x509: signature verification failed')
  const names = request.extensions.filter((one) => one instanceof x509.SubjectAlternativeNameExtension)
  return {
    organizations: request.subjectName.getField('O'),
    sign: (authority, usages, validity) =>
      sign(authority, {
        ...validity,
        subject: request.subjectName,
        publicKey: request.publicKey,
        usages,
        extensions: names,
      }),
  }
}

/** Returns the user and groups in the subject of a DER certificate, as kube-apiserver reads them. */
export function subjectOf(der: Buffer): Required<Subject> {
  const { subjectName } = new x509.X509Certificate(der)
  return { commonName: subjectName.getField('CN')[0] ?? '', organizations: subjectName.getField('O') }
}

const AUTHORITY_DAYS = 3650
const SERVING_DAYS = 365

/**
 * Returns the stored authority if it is valid and outlives every certificate that it may sign now, otherwise a new one. `say` learns why
 * one is replaced: its clients must trust the new one.
 */
export async function keepAuthority(
  kept: KeyPair | undefined,
  commonName: string,
  now: number,
  say: (sentence: string) => void,
): Promise<KeyPair> {
  if (kept) {
    const { notBefore, notAfter } = new x509.X509Certificate(kept.certificate)
    const isEarly = notBefore.getTime() > now
    if (!isEarly && notAfter.getTime() > now + SERVING_DAYS * DAY) return kept
    const reason = isEarly
      ? `is valid only from ${rfc3339(notBefore)} on, and the clock says ${rfc3339(new Date(now))}`
      : `expires on ${rfc3339(notAfter)}`
    say(`The certificate authority "${commonName}" ${reason}. A new one replaces it, which clients need.`)
  }
  return makeAuthority(commonName, validFor(AUTHORITY_DAYS, now))
}

/** Issues a certificate for the loopback names of this machine. Every start issues a new one, so that it does not expire. */
export const issueLoopback = (
  authority: KeyPair,
  now: number,
  usages: readonly Usage[] = ['server auth'],
): Promise<KeyPair> => issueServing(authority, ['127.0.0.1', 'localhost', '::1'], usages, validFor(SERVING_DAYS, now))

interface Leaf extends Validity {
  subject: x509.Name
  publicKey: x509.PublicKeyType
  usages: readonly Usage[]
  extensions: x509.Extension[]
}

/** Limits the expiry to that of the authority. */
async function sign(authority: KeyPair, { subject, publicKey, usages, extensions, ...leaf }: Leaf): Promise<string> {
  const issuer = new x509.X509Certificate(authority.certificate)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    notBefore: leaf.notBefore,
    notAfter: leaf.notAfter < issuer.notAfter ? leaf.notAfter : issuer.notAfter,
    subject,
    issuer: issuer.subjectName,
    publicKey,
    signingKey: await importKey(authority.key),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      ...usageExtensions(usages),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...extensions,
    ],
  })
  return certificate.toString('pem')
}

function usageExtensions(usages: readonly Usage[]): x509.Extension[] {
  const flags =
    (usages.includes('digital signature') ? x509.KeyUsageFlags.digitalSignature : 0) |
    (usages.includes('key encipherment') ? x509.KeyUsageFlags.keyEncipherment : 0)
  const extended = [
    ...(usages.includes('client auth') ? [x509.ExtendedKeyUsage.clientAuth] : []),
    ...(usages.includes('server auth') ? [x509.ExtendedKeyUsage.serverAuth] : []),
  ]
  return [
    ...(flags ? [new x509.KeyUsagesExtension(flags, true)] : []),
    ...(extended.length > 0 ? [new x509.ExtendedKeyUsageExtension(extended)] : []),
  ]
}

/** Specifies UTF8String, because the library would parse text that starts with `#` as DER. */
const nameOf = ({ commonName, organizations = [] }: Subject): x509.Name =>
  new x509.Name([
    ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
    { CN: [{ utf8String: commonName }] },
  ])

/** Returns 127 random bits, never zero and never negative. */
const newSerialNumber = (): string => `4${randomBytes(16).toString('hex').slice(1)}`

const newKeys = (): Promise<webcrypto.CryptoKeyPair> => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

const pemOf = (key: webcrypto.CryptoKey): string =>
  KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()

const importKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  crypto.subtle.importKey('pkcs8', createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }), ALGORITHM, false, [
    'sign',
  ])
