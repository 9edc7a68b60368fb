/**
 * Reads the kube config in an answer of the server. It takes only what a kube config needs, because kubectl runs commands and reads files
 * that a kube config names.
 */
import { isProxyUrl, isTlsServerName } from '../../../../lib/clusters/cluster/network.ts'
import { parseYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { asSentence } from '../../../core/src/answers.ts'
import { CliError } from '../io/errors.ts'

const invalid = (why: string): CliError =>
  new CliError(asSentence(`The server answered with a kube config that is not valid: ${why}`))

/** Returns how clients reach the only cluster. Throws a CliError for any other address than an HTTPS URL. */
export async function clusterIn(text: string): Promise<JsonObject> {
  return addressIn(record((await onlyOne(text, 'clusters')).cluster))
}

/** Returns how clients reach a cluster in a kube config. Throws a CliError for any other address than an HTTPS URL. */
export function addressIn({
  server,
  'certificate-authority-data': authority,
  'proxy-url': proxy,
  'tls-server-name': name,
}: JsonObject): JsonObject {
  if (typeof server !== 'string' || !URL.canParse(server) || new URL(server).protocol !== 'https:') {
    throw invalid('the address of the cluster is not an HTTPS URL')
  }
  if (authority !== undefined && (typeof authority !== 'string' || !BASE64.test(authority)))
    throw invalid('the certificate authority is not base64')
  if (proxy !== undefined && (typeof proxy !== 'string' || !isProxyUrl(proxy)))
    throw invalid('the proxy is not an https, http or socks5 URL without a user')
  if (name !== undefined && (typeof name !== 'string' || !isTlsServerName(name)))
    throw invalid('the TLS server name is not a DNS name')
  return {
    server,
    ...(authority !== undefined && { 'certificate-authority-data': authority }),
    ...(proxy !== undefined && { 'proxy-url': proxy }),
    ...(name !== undefined && { 'tls-server-name': name }),
  }
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Returns the token or the certificate of the only user, in the words of an ExecCredential. */
export async function userIn(text: string): Promise<Record<string, string>> {
  const user = record((await onlyOne(text, 'users')).user)
  const { token, 'client-certificate-data': certificate, 'client-key-data': key } = user
  if (typeof token === 'string') return { token }
  if (typeof certificate !== 'string' || typeof key !== 'string') throw invalid('the user has no credential')
  return { clientCertificateData: decoded(certificate), clientKeyData: decoded(key) }
}

/** A context, with what it names. */
export interface ServerContext {
  name: string
  cluster: JsonObject
  user: { token?: string }
}

/** Returns the contexts in their order. Throws a CliError for one that names nothing, and for an address as `addressIn` does. */
export async function contextsIn(text: string): Promise<ServerContext[]> {
  const config = await configIn(text)
  const named = (list: string, name: JsonValue | undefined): JsonObject => {
    const found = listIn(config, list).find((one) => one.name === name)
    if (typeof name !== 'string' || found === undefined) throw invalid(`a context names nothing in ${list}`)
    return found
  }
  return listIn(config, 'contexts').map(({ name, context }) => {
    if (typeof name !== 'string') throw invalid('a context has no name')
    const { cluster, user } = record(context)
    const { token } = record(named('users', user).user)
    return {
      name,
      cluster: addressIn(record(named('clusters', cluster).cluster)),
      user: typeof token === 'string' ? { token } : {},
    }
  })
}

async function configIn(text: string): Promise<JsonObject> {
  const { value } = await parseYaml(text).catch(() => {
    throw invalid('it is not YAML')
  })
  return record(value)
}

function listIn(config: JsonObject, list: string): JsonObject[] {
  const entries = config[list]
  if (!Array.isArray(entries)) throw invalid(`it has no ${list}`)
  return entries.map(record)
}

async function onlyOne(text: string, list: string): Promise<JsonObject> {
  const entries = listIn(await configIn(text), list)
  if (entries.length !== 1) throw invalid(`it does not have one entry in ${list}`)
  return entries[0] ?? {}
}

function record(value: JsonValue | undefined): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('it is not an object')
  return value
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString()
