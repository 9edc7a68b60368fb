/** Exchanges the ID token in a file for an access key, or for tokens of clusters, as docs/federation.md describes. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { mayPass, objectIn } from '../../../core/src/answers.ts'
import {
  CLUSTER_TOKEN_TYPE,
  clusterAudience,
  exchangeForm,
  FORM_TYPE,
  KUBE_CONFIG_TYPE,
  virtualClusterAudience,
} from '../../../core/src/exchange.ts'
import type { HttpsAnswer } from '../../../core/src/https.ts'
import type { Context } from '../config/contexts.ts'
import { cacheFolder } from '../config/paths.ts'
import { readIfThere } from '../config/privatefile.ts'
import { forget } from '../credentials/cleanup.ts'
import { type Credential, credentialIn } from '../credentials/credential.ts'
import { entryName, type Owner, readEntry } from '../credentials/entry.ts'
import { cachedCredential, type Issued, keepCredential } from '../credentials/flight.ts'
import { ageOf } from '../credentials/lifetime.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { receivedFrom, repeatedly } from './call.ts'
import { send } from './https.ts'
import { contextsIn } from './servertext.ts'
import { errorOf } from './status.ts'
import type { ClusterTarget } from './target.ts'

/** The target of an exchange for a key. No audience has this form. */
const KEY = 'exchange'

/** All connected clusters that the trust names. */
export const NAMED_CLUSTERS = 'clusters/*'

export interface Exchange {
  server: string
  certificateAuthority: string | undefined
  /** NAME@UID of the federated identity credential. */
  clientID: string
  tokenFile: string
}

/**
 * Returns the access key that the ID token in the file was exchanged for, from the cache of credentials if it is there: most issuers let a
 * token be exchanged only once. Throws a CliError with the server's reason when the ID token is refused.
 */
export async function exchangedKey(io: Io, exchange: Exchange): Promise<string> {
  const idToken = await idTokenIn(exchange)
  const credential = await cachedCredential(io, {
    owner: ownerOf(exchange, idToken),
    target: KEY,
    renewedAt: 1,
    issue: (signal) => exchangeIdToken({ ...io, signal }, exchange, idToken),
  })
  return 'token' in credential ? credential.token : ''
}

/**
 * Returns a token of the cluster for the ID token in the file, with one request, or from the cache of credentials. With `also`, the same
 * request gets tokens for these audiences. Returns undefined if the ID token was exchanged for a key, which is in the cache and makes tokens
 * for all clusters: most issuers let a token be exchanged only once. Throws a CliError with the server's reason when it refuses.
 */
export async function exchangedToken(
  io: Io,
  exchange: Exchange,
  target: ClusterTarget,
  also: readonly string[] = [],
): Promise<Credential | undefined> {
  const audience = audienceOf(target)
  if (also.includes(NAMED_CLUSTERS)) return tokenAmong(await exchangedClusters(io, exchange, [NAMED_CLUSTERS]), target)
  if (also.length > 0) {
    const all = [audience, ...also.filter((one) => one !== audience)]
    return (await exchangedClusters(io, exchange, all))?.[0]?.credential
  }
  const idToken = await idTokenIn(exchange)
  const owner = ownerOf(exchange, idToken)
  if (isCached(io, owner)) return undefined
  return cachedCredential(io, {
    owner,
    target: audience,
    renewedAt: 1,
    issue: (signal) => exchangeIdToken({ ...io, signal }, exchange, idToken, audience),
  })
}

/** Returns the name of the connected cluster of a context, which the server names `CLUSTER@HOST`. */
export const clusterOf = ({ name }: Pick<ExchangedCluster, 'name'>): string => name.replace(/@.*$/, '')

function tokenAmong(clusters: ExchangedCluster[] | undefined, { name }: ClusterTarget): Credential | undefined {
  const found = clusters?.find((one) => clusterOf(one) === name)
  if (clusters !== undefined && found === undefined)
    throw new UsageError(`The trust of the ID token does not name the cluster ${name}, or the cluster has no object.`)
  return found?.credential
}

/** Reports whether a key of the owner is in the cache. */
function isCached(io: Io, owner: Owner): boolean {
  const folder = cacheFolderIn(io)
  const entry = folder === undefined ? undefined : readEntry(folder, entryName(owner, KEY))
  return entry !== undefined && ageOf(entry, io.now(), 1) === 'fresh'
}

export const audienceOf = (target: ClusterTarget): string =>
  target.kind === 'cluster' ? clusterAudience(target.name) : virtualClusterAudience(target.project, target.name)

/** A cluster in the kube config that an exchange has answered. */
export interface ExchangedCluster {
  /** The name of the context. */
  name: string
  /** How clients reach it. */
  cluster: JsonObject
  credential: { token: string; expirationTimestamp: string }
}

/**
 * Returns tokens for the audiences with the addresses of their clusters, in the order of the audiences: with one request, or from the cache of
 * credentials. Each token is in the cache for its cluster, too. Returns undefined if the ID token was exchanged for a key: see above.
 */
export async function exchangedClusters(
  io: Io,
  exchange: Exchange,
  audiences: readonly string[],
): Promise<ExchangedCluster[] | undefined> {
  const idToken = await idTokenIn(exchange)
  const owner = ownerOf(exchange, idToken)
  if (isCached(io, owner)) return undefined
  const sorted = [...audiences].sort()
  const found = await cachedCredential(io, {
    owner,
    target: `kube config of ${sorted.join(' ')}`,
    renewedAt: 1,
    issue: async (signal) => {
      const text = await exchangeForText({ ...io, signal }, exchange, idToken, sorted)
      const clusters = await clustersIn(exchange, text, sorted)
      const ends = clusters.map(({ credential }) => Date.parse(credential.expirationTimestamp))
      const left = (end: number) => Math.floor((end - io.now().getTime()) / 1000)
      if (!audiences.includes(NAMED_CLUSTERS))
        for (const [index, { credential }] of clusters.entries())
          await keepCredential(
            io,
            { owner, target: sorted[index] ?? '' },
            { credential, seconds: left(ends[index] ?? 0) },
          )
      // What a kube config is good for is its tokens.
      return { credential: { token: packed(text) }, seconds: left(Math.min(...ends)) }
    },
  })
  const clusters = await clustersIn(exchange, 'token' in found ? unpacked(found.token) : '', sorted)
  if (audiences.includes(NAMED_CLUSTERS)) return clusters
  return audiences.flatMap((one) => clusters[sorted.indexOf(one)] ?? [])
}

/** Returns a text as it can stand in the cache, where credentials are. */
const packed = (text: string): string => deflateRawSync(text).toString('base64url')

/** The most characters of a kube config for 20 clusters, with room. */
const MOST_CHARACTERS = 4 * 1024 * 1024

const unpacked = (text: string): string =>
  inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: MOST_CHARACTERS }).toString()

/** Reads a kube config that an exchange has answered. Throws a CliError if it is not that of the audiences. */
async function clustersIn(
  { server }: Exchange,
  text: string,
  audiences: readonly string[],
): Promise<ExchangedCluster[]> {
  const contexts = await contextsIn(text)
  const isNumber = audiences.includes(NAMED_CLUSTERS) ? contexts.length > 0 : contexts.length === audiences.length
  const clusters = contexts.flatMap(({ name, cluster, user: { token } }) => {
    const expirationTimestamp = expiryOf(token ?? '')
    return token === undefined || expirationTimestamp === undefined
      ? []
      : [{ name, cluster, credential: { token, expirationTimestamp } }]
  })
  if (isNumber && clusters.length === contexts.length) return clusters
  throw new CliError(`${server} answered without a kube config of ${audiences.join(', ')}.`)
}

/** Returns when a token ends, as it says itself. */
function expiryOf(token: string): string | undefined {
  const { exp } = objectIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {}
  if (typeof exp !== 'number' || !(exp > 0 && exp < 1e11)) return undefined
  return new Date(exp * 1000).toISOString().replace('.000Z', 'Z')
}

/** Removes everything from the cache that the key of a context has made, or the keys that its ID tokens were exchanged for. */
export function forgetContext(io: Io, { server, key, exchange }: Context): void {
  const folder = cacheFolderIn(io)
  if (folder === undefined) return
  const exchanged = exchange === undefined ? [] : forget(folder, ownerOf({ server, ...exchange }, ''))
  const keys = exchanged.flatMap((one) => ('token' in one ? [one.token] : []))
  for (const one of key === undefined ? keys : [key]) forget(folder, { server, key: one })
}

/** Removes the access key from the cache, because the server has refused it. */
export async function forgetExchangedKey(io: Io, exchange: Exchange): Promise<void> {
  const folder = cacheFolderIn(io)
  if (folder !== undefined) forget(folder, ownerOf(exchange, await idTokenIn(exchange)))
}

/** Returns the folder of the cache, or undefined if there is no place for one. Then nothing was kept. */
function cacheFolderIn(io: Io): string | undefined {
  try {
    return cacheFolder(io)
  } catch {
    return undefined
  }
}

const ownerOf = ({ server, clientID, tokenFile }: Omit<Exchange, 'certificateAuthority'>, idToken: string): Owner => ({
  server,
  key: `${clientID}\n${idToken}`,
  keysOf: `${clientID}\n${tokenFile}`,
})

async function idTokenIn({ tokenFile }: Exchange): Promise<string> {
  const text = await readIfThere(tokenFile)
  if (text === undefined) throw new CliError(`The file of the ID token, ${tokenFile}, does not exist.`)
  const idToken = text.trim()
  if (idToken === '') throw new CliError(`The file of the ID token, ${tokenFile}, is empty.`)
  return idToken
}

/** Says that an exchange was not begun, so that the ID token may be sent again: most may be exchanged only once. */
const isUntouched = ({ code, headers }: HttpsAnswer) => code === 503 && headers['retry-after'] !== undefined

/** Returns the access key for the ID token, or with an audience a token of that cluster. */
async function exchangeIdToken(io: Io, exchange: Exchange, idToken: string, audience?: string): Promise<Issued> {
  const asked = io.now()
  const what = audience === undefined ? 'a key' : `a token for ${audience}`
  const form = exchangeForm(exchange.clientID, idToken, { audience })
  const answer = objectIn(await sendExchange(io, exchange, { form, what }))
  const wrong = new CliError(`${exchange.server} answered without ${what}.`)
  if (typeof answer?.access_token !== 'string') throw wrong
  const seconds = Number(answer.expires_in) || 0
  if (audience === undefined) return { credential: { token: answer.access_token }, seconds }
  const expirationTimestamp = new Date(asked.getTime() + seconds * 1000).toISOString()
  const credential = credentialIn({ token: answer.access_token, expirationTimestamp })
  // An access key, which is for this API alone, is never given to a cluster.
  if (credential === undefined || answer.issued_token_type !== CLUSTER_TOKEN_TYPE) throw wrong
  return { credential, seconds }
}

/** Returns the kube config for the ID token. */
const exchangeForText = (io: Io, exchange: Exchange, idToken: string, audiences: readonly string[]): Promise<string> =>
  sendExchange(io, exchange, {
    form: exchangeForm(exchange.clientID, idToken, { audience: audiences }),
    what: `tokens for ${audiences.join(', ')}`,
    accept: KUBE_CONFIG_TYPE,
  })

/** Returns the text of a successful answer. Throws a CliError with the server's reason when it refuses. */
async function sendExchange(
  io: Io,
  { server, certificateAuthority }: Exchange,
  { form, what, accept = 'application/json' }: { form: string; what: string; accept?: string },
): Promise<string> {
  const request = {
    url: new URL(`${server}/oauth2/token`),
    method: 'POST',
    headers: { accept, 'content-type': FORM_TYPE },
    body: form,
    certificateAuthority,
    signal: io.signal,
  }
  const received = await repeatedly(io, { repeatable: false, isSafe: isUntouched }, () => send(request))
  const { code, text } = received
  if (code === 200) return text
  const answer = objectIn(text)
  if (typeof answer?.error !== 'string') throw errorOf(receivedFrom(server, received), answer)
  const why = typeof answer.error_description === 'string' ? answer.error_description : answer.error
  const unavailable = mayPass(code)
  throw new CliError(`The ID token was not exchanged for ${what}: ${why}`, {
    exitCode: unavailable ? 1 : 4,
    unavailable,
    retryAfter: receivedFrom(server, received).retryAfter,
  })
}
