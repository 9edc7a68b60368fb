/**
 * The local certificate authorities and what they issue. P-256 throughout; one RDN per name, as Kubernetes reads subjects.
 * Source: RFC 5280. The only file of infra that knows @peculiar/x509.
 */
import 'reflect-metadata'
import { createPrivateKey, KeyObject, randomBytes, type webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

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

/** What Kubernetes calls usages, as far as a certificate for a client or a server has them. */
export type Usage = 'digital signature' | 'key encipherment' | 'client auth' | 'server auth'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const MINUTE = 60_000
const DAY = 86_400_000

/** Clocks differ by a little. */
const BACKDATE = 5 * MINUTE

/** From five minutes ago, for `days`. */
export const validFor = (days: number, now: number): Validity => ({
  notBefore: new Date(now - BACKDATE),
  notAfter: new Date(now + days * DAY),
})

/** A new authority that signs leaf certificates only. */
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

/** A certificate for a server; `hosts` are names and IP addresses. */
async function issueServing(
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

/** A client certificate with a key made here. */
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

/** Reports whether the text ends in one block of that type, which begins a line. */
function endsInRequest(text: string): boolean {
  const pem = text.trimEnd()
  const from = pem.lastIndexOf(BEGIN_REQUEST)
  if (from < 0 || (from > 0 && pem[from - 1] !== '\n') || !pem.endsWith(END_REQUEST)) return false
  const inside = pem.slice(from + BEGIN_REQUEST.length, -END_REQUEST.length)
  return /^\s/.test(inside) && !inside.includes('-')
}

/** A parsed PKCS#10 request whose signature is right. */
export interface ParsedRequest {
  organizations: string[]
  /** PEM of a certificate with the request's subject, key and alternative names, and nothing else of it. */
  sign(authority: KeyPair, usages: readonly Usage[], validity: Validity): Promise<string>
}

/** Throws an Error with a short reason for what is no PEM, no request, or not signed by the key it names. */
export async function parseRequest(pem: string): Promise<ParsedRequest> {
  if (!endsInRequest(pem)) throw new Error('PEM block type must be CERTIFICATE REQUEST')
  let request: x509.Pkcs10CertificateRequest
  let verified: boolean
  try {
    request = new x509.Pkcs10CertificateRequest(pem)
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

/** The subject of a certificate in DER, as kube-apiserver reads it: user and groups. */
export function subjectOf(der: Buffer): Required<Subject> {
  const { subjectName } = new x509.X509Certificate(der)
  return { commonName: subjectName.getField('CN')[0] ?? '', organizations: subjectName.getField('O') }
}

const AUTHORITY_DAYS = 3650
const SERVING_DAYS = 365

/** The authority of last time while it outlives every certificate that it may sign now, else a new one. */
export async function keepAuthority(kept: KeyPair | undefined, commonName: string, now: number): Promise<KeyPair> {
  if (kept && new x509.X509Certificate(kept.certificate).notAfter.getTime() > now + SERVING_DAYS * DAY) return kept
  return makeAuthority(commonName, validFor(AUTHORITY_DAYS, now))
}

/** A certificate for this machine's loopback names. One is made at every start, so that none grows old. */
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

/** Never beyond the authority's own end. */
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

/** UTF8String is named, because the library would take text that begins with `#` for DER. */
const nameOf = ({ commonName, organizations = [] }: Subject): x509.Name =>
  new x509.Name([
    ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
    { CN: [{ utf8String: commonName }] },
  ])

/** 127 random bits, never zero and never negative. */
const newSerialNumber = (): string => `4${randomBytes(16).toString('hex').slice(1)}`

const newKeys = (): Promise<webcrypto.CryptoKeyPair> => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

const pemOf = (key: webcrypto.CryptoKey): string =>
  KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()

const importKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  crypto.subtle.importKey('pkcs8', createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }), ALGORITHM, false, [
    'sign',
  ])
