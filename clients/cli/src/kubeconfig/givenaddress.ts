/**
 * Takes the address of a cluster from a kube config that somebody has for it: the server, the certificate authority, the proxy and the name
 * in the certificate, and nothing else.
 * Credentials are neither read nor shown.
 */
import { createReadStream } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isProxyUrl, isTlsServerName, type Network } from '../../../../lib/clusters/cluster/network.ts'
import { parseYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { CliError, UsageError } from '../io/errors.ts'
import { reasonOf } from '../io/filefailure.ts'

export interface GivenAddress extends Network {
  server: string
  /** Certificates in PEM. Absent: clients trust public authorities. */
  certificateAuthority?: string
}

/** Kube configs of hundreds of clusters are smaller. */
const MOST_BYTES = 2 * 1024 * 1024

/** Returns the address of the cluster of a context, by default of the current one. Throws a CliError that says what the file lacks. */
export async function addressInFile(file: string, context: string | undefined): Promise<GivenAddress> {
  const config = await readConfig(file)
  const wrong = (why: string, hint?: string) => new CliError(`${file}: ${why}.`, { ...(hint && { hint }) })
  const contexts = entriesIn(config, 'contexts')
  const current = config['current-context']
  const wanted = context ?? (typeof current === 'string' && current !== '' ? current : undefined)
  const known = `The contexts are: ${[...contexts.keys()].join(', ') || 'none'}.`
  if (wanted === undefined) throw wrong('there is no current context', `${known} Choose one with --from-context NAME`)
  const found = contexts.get(wanted)
  if (found === undefined) throw wrong(`there is no context "${wanted}"`, known)
  const { cluster: name } = objectIn(found.context)
  const entry = typeof name === 'string' ? entriesIn(config, 'clusters').get(name) : undefined
  if (entry === undefined) throw wrong(`the context "${wanted}" names no cluster of the file`)
  const cluster = objectIn(entry.cluster)
  if (cluster['insecure-skip-tls-verify']) {
    throw wrong(
      `the cluster of the context "${wanted}" has insecure-skip-tls-verify, so nothing proves which server answers`,
      'Find its certificate authority, and give it: --server URL --ca FILE',
    )
  }
  const { server, 'certificate-authority-data': data, 'certificate-authority': path } = cluster
  if (typeof server !== 'string') throw wrong(`the cluster of the context "${wanted}" has no server`)
  const authority =
    typeof data === 'string' && data !== ''
      ? certificatesIn(Buffer.from(data, 'base64').toString(), `the certificate-authority-data of ${file}`)
      : typeof path === 'string' && path !== ''
        ? await authorityInFile(resolve(dirname(file), path))
        : undefined
  return {
    server: serverIn(server, file),
    ...(authority && { certificateAuthority: authority }),
    ...networkIn(cluster, wrong),
  }
}

/** The messages do not repeat the URL: it may have a password. */
function networkIn(
  { 'proxy-url': proxyURL = '', 'tls-server-name': tlsServerName = '' }: JsonObject,
  wrong: (why: string, hint?: string) => CliError,
): Network {
  if (proxyURL !== '' && (typeof proxyURL !== 'string' || !isProxyUrl(proxyURL)))
    throw wrong(
      'the proxy-url of the cluster is not an https, http or socks5 URL without a user',
      'A Cluster has no password of a proxy: everybody who may use it would see it.',
    )
  if (tlsServerName !== '' && (typeof tlsServerName !== 'string' || !isTlsServerName(tlsServerName)))
    throw wrong('the tls-server-name of the cluster is not a DNS name')
  return { ...(proxyURL && { proxyURL }), ...(tlsServerName && { tlsServerName }) }
}

/** Returns the certificates of a file in PEM, without anything else that it has, such as a private key. */
export const authorityInFile = async (file: string): Promise<string> => certificatesIn(await readText(file), file)

/** Returns an address that is an HTTPS URL without a user. The message does not repeat it: it may have a password. */
export function serverIn(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:') throw new UsageError(`The server in ${from} is an http URL. It must be https.`)
  if (url?.protocol !== 'https:') throw new UsageError(`The server in ${from} is not an https URL.`)
  if (url.username || url.password || url.search || url.hash)
    throw new UsageError(`The server in ${from} must be a URL without user, query and fragment.`)
  return text
}

/** Reports whether only this machine reaches an address. */
export function isLocal(server: string): boolean {
  const { hostname } = new URL(server)
  return /^(localhost|127\..*|0\.0\.0\.0|\[::1?\])$/.test(hostname)
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g

function certificatesIn(pem: string, from: string): string {
  const found = pem.match(CERTIFICATE)
  if (found === null) throw new CliError(`There is no certificate in PEM in ${from}.`)
  return `${found.join('\n')}\n`
}

async function readConfig(file: string): Promise<JsonObject> {
  const text = await readText(file)
  const broken = (why: string) => new CliError(`${file} is no kube config: ${why}.`)
  const { value, duplicates } = await parseYaml(text).catch((error: Error) => {
    throw broken(error.message)
  })
  if (duplicates.length > 0) throw broken(duplicates[0] ?? '')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw broken('it is not an object')
  return value
}

/** Reads a file of a limited size, which may be a pipe. */
async function readText(file: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of createReadStream(file)) {
      chunks.push(chunk as Buffer)
      bytes += (chunk as Buffer).length
      if (bytes > MOST_BYTES) break
    }
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${reasonOf(error as Error)}.`, { cause: error })
  }
  if (bytes > MOST_BYTES) {
    throw new CliError(`${file} has more than ${MOST_BYTES / 1024 / 1024} MiB.`, {
      hint: 'Write a smaller one: kubectl config view --minify --flatten --raw',
    })
  }
  return Buffer.concat(chunks).toString()
}

/** Returns the entries of a list by their names. The first of several with one name wins, as in client-go. */
function entriesIn(config: JsonObject, list: 'contexts' | 'clusters'): Map<string, JsonObject> {
  const entries = config[list]
  const found = new Map<string, JsonObject>()
  for (const entry of Array.isArray(entries) ? entries.map(objectIn) : [])
    if (typeof entry.name === 'string' && !found.has(entry.name)) found.set(entry.name, entry)
  return found
}

const objectIn = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
