/** Explains in words why no answer has come. */
import { asSentence } from './answers.ts'

/** Codes of OpenSSL for a chain without a trusted root. */
const UNTRUSTED = [
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]

export type FailureKind =
  | 'untrusted'
  | 'expired'
  | 'otherHost'
  | 'notHttps'
  | 'unknownHost'
  | 'notListening'
  | 'silent'
  | 'closed'
  | 'proxy'
  | 'other'

export interface NetworkFailure {
  kind: FailureKind
  /** A sentence. */
  text: string
  /** Whether the failure may pass by itself, unlike that of a certificate. */
  isPassing: boolean
}

/** The members of Node's errors that say where a request has failed. */
interface Place {
  code?: string
  /** The name that was looked up. */
  hostname?: string
  /** Where the connection was tried. */
  address?: string
  port?: number
  /** What a proxy answered to CONNECT. */
  statusCode?: number
}

const USUAL_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Returns the proxy of the environment if the error has happened there, and not at the host behind it. */
function failedProxy({ code, hostname, address, port }: Place, host: string, env: NodeJS.ProcessEnv): URL | undefined {
  const proxy = URL.parse(env.https_proxy || env.HTTPS_PROXY || '')
  const target = URL.parse(`https://${host}`)
  if (!proxy || !target) return undefined
  const portOf = (url: URL) => Number(url.port) || USUAL_PORTS[url.protocol]
  const isThere =
    code === 'ERR_PROXY_TUNNEL' ||
    (hostname !== undefined && hostname === proxy.hostname && hostname !== target.hostname) ||
    (port !== undefined && port === portOf(proxy) && (port !== portOf(target) || address === proxy.hostname))
  return isThere ? proxy : undefined
}

/** Says what is wrong with a proxy, whose URL may have a password. */
function proxyFailure({ code = '', statusCode }: Place, proxy: URL, host: string): NetworkFailure {
  const failure = (text: string, isPassing: boolean): NetworkFailure => ({ kind: 'proxy', text, isPassing })
  const named = `the proxy ${proxy.host}`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return failure(`The host of ${named} cannot be found.`, code === 'EAI_AGAIN')
  if (code === 'ECONNREFUSED') return failure(`Nothing listens at ${named}.`, true)
  const answer = statusCode === undefined ? '' : `: it answered ${statusCode}`
  const isRefused = statusCode !== undefined && statusCode < 500
  return failure(`The proxy ${proxy.host} gives no connection to ${host}${answer}.`, !isRefused)
}

/** The kinds of proxies that Node.js speaks. */
const PROXY_PROTOCOLS = ['http:', 'https:']

/** Returns a sentence about a proxy of the environment that Node.js leaves out; undefined if there is none. Shows no password. */
export function leftOutProxy(env: NodeJS.ProcessEnv): string | undefined {
  const given = (name: string) => {
    const set = [name.toLowerCase(), name].find((one) => env[one])
    return set === undefined ? undefined : { set, protocol: URL.parse(env[set] ?? '')?.protocol }
  }
  const own = given('HTTPS_PROXY')
  const found = own ?? given('ALL_PROXY')
  if (found === undefined) return undefined
  const { set, protocol = 'nothing that is a URL' } = found
  if (!PROXY_PROTOCOLS.includes(protocol))
    return `${set} names ${protocol.replace(/:$/, '://')}, a proxy that Node.js does not speak. Name an HTTP proxy in HTTPS_PROXY.`
  return own ? undefined : `Node.js does not use ${set}. Name the proxy in HTTPS_PROXY.`
}

/** Returns what an error of `sendHttps` to a host means. The environment is that from which Node.js takes a proxy. */
export function networkFailure(error: unknown, host: string, env = process.env): NetworkFailure {
  const { code = '', message } = error as NodeJS.ErrnoException
  const place = error as Place
  const proxy = failedProxy(place, host, env)
  if (proxy) return proxyFailure(place, proxy, host)
  const failure = (kind: FailureKind, text: string): NetworkFailure => ({
    kind,
    text,
    isPassing: !/CERT|SIGNATURE|EPROTO|ERR_SSL|ENOTFOUND/.test(code),
  })
  if (UNTRUSTED.includes(code))
    return failure('untrusted', `The certificate of ${host} is not signed by an authority that this machine trusts.`)
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return failure('expired', `The certificate of ${host} has expired or is not valid yet.`)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return failure('otherHost', `The certificate of ${host} is for another host.`)
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return failure('notHttps', `${host} does not speak HTTPS on this port.`)
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return failure('unknownHost', `The host ${host} cannot be found.`)
  if (code === 'ECONNREFUSED') return failure('notListening', `Nothing listens at ${host}.`)
  if (code === 'ETIMEDOUT') return failure('silent', `${host} did not answer in time.`)
  if (code === 'ECONNRESET') return failure('closed', `${host} closed the connection before it answered.`)
  return failure('other', asSentence(`The request to ${host} failed: ${message}`))
}
