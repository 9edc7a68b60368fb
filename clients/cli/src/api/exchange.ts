/** Exchanges the ID token in a file for an access key, as docs/federation.md describes. */
import { cacheFolder } from '../config/paths.ts'
import { readIfThere } from '../config/privatefile.ts'
import { forget } from '../credentials/cleanup.ts'
import type { Owner } from '../credentials/entry.ts'
import { cachedCredential, type Issued } from '../credentials/flight.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { sendHttps } from './https.ts'
import { errorOf } from './status.ts'

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
    target: 'exchange',
    renewedAt: 1,
    issue: (signal) => exchangeIdToken(exchange, idToken, signal),
  })
  return 'token' in credential ? credential.token : ''
}

/** Removes the access key from the cache, because the server has refused it. */
export async function forgetExchangedKey(io: Io, exchange: Exchange): Promise<void> {
  forget(cacheFolder(io), ownerOf(exchange, await idTokenIn(exchange)))
}

const ownerOf = ({ server, clientID }: Exchange, idToken: string): Owner => ({ server, key: `${clientID}\n${idToken}` })

async function idTokenIn({ tokenFile }: Exchange): Promise<string> {
  const text = await readIfThere(tokenFile)
  if (text === undefined) throw new CliError(`The file of the ID token, ${tokenFile}, does not exist.`)
  return text.trim()
}

async function exchangeIdToken(
  { server, certificateAuthority, clientID }: Exchange,
  idToken: string,
  signal: AbortSignal,
): Promise<Issued> {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    client_id: clientID,
    subject_token: idToken,
  })
  const { code, headers, text } = await sendHttps({
    url: new URL(`${server}/oauth2/token`),
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    certificateAuthority,
    signal,
  })
  const answer = parsed(text)
  if (code === 200 && typeof answer?.access_token === 'string') {
    return { credential: { token: answer.access_token }, seconds: Number(answer.expires_in) || 0 }
  }
  if (typeof answer?.error === 'string') {
    const why = typeof answer.error_description === 'string' ? answer.error_description : answer.error
    const unavailable = code === 429 || code >= 500
    throw new CliError(`The ID token was not exchanged for a key: ${why}`, {
      exitCode: unavailable ? 1 : 4,
      unavailable,
    })
  }
  throw errorOf(
    { server, code, contentType: headers['content-type']?.[0] ?? '', location: headers.location?.[0], text },
    answer,
  )
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}
