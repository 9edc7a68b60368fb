/**
 * Reads the credentials of a virtual cluster from a secret, by allow-list. A full kube config client would let the
 * writer of the secret run a program, read a file, use a proxy or disable TLS here.
 */

import { parseYaml } from '../../engine/meta/encoding/yaml.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import { clusterError } from './failure.ts'
import { type Refuse, readMembers, readText } from './members.ts'
import { fromBase64, parseCertificates, parsePrivateKey, toPem } from './pem.ts'
import { readKubeConfig, type WrittenCredentials } from './readkubeconfig.ts'
import { isServerUrl } from './serverurl.ts'

/** The address of a virtual cluster and how to authenticate: a bearer token, or a client certificate with its key. */
export interface Credentials {
  /** An https URL. */
  server: string
  /** PEM. When absent, the public authorities are trusted. */
  certificateAuthority?: string
  token?: string
  /** PEM. */
  clientCertificate?: { certificate: string; key: string }
}

/** The Secrets Manager limit for a secret. */
const MAX_LENGTH = 65_536

const FIELDS = ['certificate-authority', 'client-certificate', 'client-key', 'config'] as const

/**
 * Parses a secret: a kube config (JSON or YAML), or an object with the fields that vcluster writes. Those are
 * certificate-authority, client-certificate, client-key and config, each as text or base64. If `config` is present, the
 * others are ignored. Without it, the address is `fallbackServer`. `cluster` is NAMESPACE/NAME. Rejects with a
 * ClusterError that names the invalid member and never a value.
 */
export async function parseCredentials(
  secret: string,
  { cluster, fallbackServer }: { cluster: string; fallbackServer?: string },
): Promise<Credentials> {
  const refuse: Refuse = (place, why) => {
    throw clusterError('credentials', cluster, `${place} ${why}`)
  }
  const value = await parse(secret, 'the secret', refuse)
  if (!isObject(value) || !FIELDS.some((field) => Object.hasOwn(value, field))) {
    return checkCredentials(readKubeConfig(value, '', refuse), refuse)
  }
  const fields = readMembers(value, '', FIELDS, refuse)
  const config = readText(fields.config, 'config', refuse)
  if (config === undefined) return checkCredentials(readFields(fields, fallbackServer, refuse), refuse)
  return checkCredentials(
    readKubeConfig(await parse(fromBase64(config) ?? config, 'config', refuse), 'config', refuse),
    refuse,
  )
}

async function parse(written: string, place: string, refuse: Refuse): Promise<unknown> {
  if (written.length > MAX_LENGTH) refuse(place, `has more than ${MAX_LENGTH} characters`)
  // The parser's message may quote the text.
  const parsed = await parseYaml(written).catch(() => refuse(place, 'is neither JSON nor YAML'))
  if (parsed.duplicates.length > 0) refuse(place, 'has a duplicate member')
  return parsed.value
}

function readFields(
  fields: Partial<Record<(typeof FIELDS)[number], unknown>>,
  server: string | undefined,
  refuse: Refuse,
): WrittenCredentials {
  const pem = (name: (typeof FIELDS)[number]) => {
    const written = readText(fields[name], name, refuse)
    return written?.includes('-----BEGIN ') || written === undefined
      ? written
      : (fromBase64(written) ?? refuse(name, 'is neither PEM nor base64'))
  }
  const names = { certificateAuthority: FIELDS[0], certificate: FIELDS[1], key: FIELDS[2] }
  return {
    server,
    certificateAuthority: pem(names.certificateAuthority),
    certificate: pem(names.certificate),
    key: pem(names.key),
    token: undefined,
    place: (name) => (name === 'server' || name === 'token' ? name : names[name]),
  }
}

/** RFC 6750 section 2.1. Longer tokens do not fit a header. */
const TOKEN = /^[A-Za-z0-9._~+/-]{1,8192}=*$/

function checkCredentials(written: WrittenCredentials, refuse: Refuse): Credentials {
  return { ...checkServer(written, refuse), ...checkUser(written, refuse) }
}

function checkServer({ server, certificateAuthority, place }: WrittenCredentials, refuse: Refuse) {
  const url = server ?? refuse(place('server'), 'is missing')
  if (!isServerUrl(url)) refuse(place('server'), 'is not an absolute https URL')
  if (certificateAuthority === undefined) return { server: url }
  const authorities =
    parseCertificates(certificateAuthority) ?? refuse(place('certificateAuthority'), 'holds no certificate')
  return { server: url, certificateAuthority: toPem(authorities) }
}

function checkUser({ certificate, key, token, place }: WrittenCredentials, refuse: Refuse) {
  if (token !== undefined) {
    if (certificate ?? key) refuse(place('token'), 'cannot be combined with a client certificate')
    return TOKEN.test(token) ? { token } : refuse(place('token'), 'is not a bearer token')
  }
  const chain = parseCertificates(certificate ?? refuse(place('certificate'), 'is missing, and so is a token'))
  const own = parsePrivateKey(key ?? refuse(place('key'), 'is missing'))
  if (!chain) return refuse(place('certificate'), 'holds no certificate')
  if (!own) return refuse(place('key'), 'holds no private key')
  if (!chain[0].checkPrivateKey(own)) return refuse(place('key'), 'does not belong to the client certificate')
  return {
    clientCertificate: { certificate: toPem(chain), key: own.export({ type: 'pkcs8', format: 'pem' }).toString() },
  }
}
