/** Exchanges the ID token in a file for an access key or for a token of one cluster, as docs/federation.md describes. */
import { mayPass, objectIn } from '../../../core/src/answers.ts'
import { exchangeForm, FORM_TYPE } from '../../../core/src/exchange.ts'
import type { HttpsAnswer } from '../../../core/src/https.ts'
import type { Context } from '../config/contexts.ts'
import { cacheFolder } from '../config/paths.ts'
import { readIfThere } from '../config/privatefile.ts'
import { forget } from '../credentials/cleanup.ts'
import { type Credential, credentialIn } from '../credentials/credential.ts'
import { entryName, type Owner, readEntry } from '../credentials/entry.ts'
import { cachedCredential, type Issued } from '../credentials/flight.ts'
import { ageOf } from '../credentials/lifetime.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { receivedFrom, repeatedly } from './call.ts'
import { send } from './https.ts'
import { errorOf } from './status.ts'
import type { ClusterTarget } from './target.ts'

/** The target of an exchange for a key. No audience has this form. */
const KEY = 'exchange'
/** What a token of a cluster is (RFC 8693). An access key, which is for this API alone, is never given to a cluster. */
const CLUSTER_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:jwt'

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
 * Returns a token of the cluster for the ID token in the file, with one request, or from the cache of credentials. Returns undefined if the
 * ID token was exchanged for a key, which is in the cache and makes tokens for all clusters: most issuers let a token be exchanged only
 * once. Throws a CliError with the server's reason when it refuses.
 */
export async function exchangedToken(
  io: Io,
  exchange: Exchange,
  target: ClusterTarget,
): Promise<Credential | undefined> {
  const idToken = await idTokenIn(exchange)
  const owner = ownerOf(exchange, idToken)
  if (isCached(io, owner)) return undefined
  const audience = audienceOf(target)
  return cachedCredential(io, {
    owner,
    target: audience,
    renewedAt: 1,
    issue: (signal) => exchangeIdToken({ ...io, signal }, exchange, idToken, audience),
  })
}

/** Reports whether a key of the owner is in the cache. */
function isCached(io: Io, owner: Owner): boolean {
  const folder = cacheFolderIn(io)
  const entry = folder === undefined ? undefined : readEntry(folder, entryName(owner, KEY))
  return entry !== undefined && ageOf(entry, io.now(), 1) === 'fresh'
}

const audienceOf = (target: ClusterTarget): string =>
  target.kind === 'cluster' ? `clusters/${target.name}` : `virtualclusters/${target.project}/${target.name}`

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
async function exchangeIdToken(
  io: Io,
  { server, certificateAuthority, clientID }: Exchange,
  idToken: string,
  audience?: string,
): Promise<Issued> {
  const form = exchangeForm(clientID, idToken)
  const request = {
    url: new URL(`${server}/oauth2/token`),
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': FORM_TYPE },
    body: audience === undefined ? form : `${form}&${new URLSearchParams({ audience })}`,
    certificateAuthority,
    signal: io.signal,
  }
  const asked = io.now().getTime()
  const received = await repeatedly(io, { repeatable: false, isSafe: isUntouched }, () => send(request))
  const { code, text } = received
  const answer = objectIn(text)
  const what = audience === undefined ? 'a key' : `a token for ${audience}`
  if (code === 200 && typeof answer?.access_token === 'string') {
    const seconds = Number(answer.expires_in) || 0
    if (audience === undefined) return { credential: { token: answer.access_token }, seconds }
    const expirationTimestamp = new Date(asked + seconds * 1000).toISOString()
    const credential = credentialIn({ token: answer.access_token, expirationTimestamp })
    if (credential !== undefined && answer.issued_token_type === CLUSTER_TOKEN_TYPE) return { credential, seconds }
    throw new CliError(`${server} answered without ${what}.`)
  }
  if (typeof answer?.error === 'string') {
    const why = typeof answer.error_description === 'string' ? answer.error_description : answer.error
    const unavailable = mayPass(code)
    throw new CliError(`The ID token was not exchanged for ${what}: ${why}`, {
      exitCode: unavailable ? 1 : 4,
      unavailable,
      retryAfter: receivedFrom(server, received).retryAfter,
    })
  }
  throw errorOf(receivedFrom(server, received), answer)
}
