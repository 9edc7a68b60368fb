/** A certificate authority for tests, which issues both valid and invalid certificates. */
import 'reflect-metadata'
import { KeyObject, type webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  type Extension,
  Name,
  Pkcs10CertificateRequest,
  type PublicKeyType,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const HOUR_MS = 3_600_000

export interface Wish {
  user?: string
  groups?: string[]
  /** DNS names and addresses. */
  names?: string[]
  usages?: string[]
  authority?: boolean
  notBefore?: Date
  notAfter?: Date
}

export interface Pair {
  /** PEM. */
  certificate: string
  key: string
}

export interface Authority {
  /** PEM. */
  certificate: string
  /** A certificate with a new key. */
  pair(wish: Wish): Promise<Pair>
  /** A certificate for the key of a PEM request, with the request's subject unless `wish` names another. */
  sign(request: string, wish?: Wish): Promise<string>
  /** Returns an authority below this one. */
  below(name: string): Promise<Authority>
}

const newKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
const pem = (key: webcrypto.CryptoKey) => KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()
const subjectOf = ({ user = 'nobody', groups = [] }: Wish) =>
  new Name([...groups.map((group) => ({ O: [{ utf8String: group }] })), { CN: [{ utf8String: user }] }])

interface Issuing {
  subject: Name
  issuer: Name
  publicKey: PublicKeyType
  signingKey: webcrypto.CryptoKey
  wish: Wish
}

function extensions({ usages = [CLIENT_AUTH], authority, names = [] }: Wish): Extension[] {
  const alternative = names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const)
  return [
    new BasicConstraintsExtension(authority === true),
    ...(authority ? [] : [new ExtendedKeyUsageExtension(usages)]),
    ...(names.length > 0 ? [new SubjectAlternativeNameExtension(alternative)] : []),
  ]
}

async function certify({ subject, issuer, publicKey, signingKey, wish }: Issuing): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer,
    notBefore: wish.notBefore ?? new Date(Date.now() - 300_000),
    notAfter: wish.notAfter ?? new Date(Date.now() + HOUR_MS),
    publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    extensions: extensions(wish),
  })
  return `${certificate.toString('pem')}\n`
}

async function makeAuthority(
  name: string,
  parent?: { issuer: Name; signingKey: webcrypto.CryptoKey },
): Promise<Authority> {
  const keys = await newKeys()
  const own = new Name([{ CN: [{ utf8String: name }] }])
  const signer = parent ?? { issuer: own, signingKey: keys.privateKey }
  const certificate = await certify({ subject: own, publicKey: keys.publicKey, wish: { authority: true }, ...signer })
  const issuing = { issuer: own, signingKey: keys.privateKey }
  return {
    certificate,
    async pair(wish) {
      const { publicKey, privateKey } = await newKeys()
      return {
        certificate: await certify({ ...issuing, subject: subjectOf(wish), publicKey, wish }),
        key: pem(privateKey),
      }
    },
    async sign(request, wish = {}) {
      const { subjectName, publicKey } = new Pkcs10CertificateRequest(request)
      const subject = wish.user === undefined && wish.groups === undefined ? subjectName : subjectOf(wish)
      return certify({ ...issuing, subject, publicKey, wish })
    },
    below: (below) => makeAuthority(below, issuing),
  }
}

export const testAuthority = (name = 'test authority'): Promise<Authority> => makeAuthority(name)
