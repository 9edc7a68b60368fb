/** Exchanges the ID token in a file for an access key, as docs/federation.md describes. */
import { readIfThere } from '../config/privatefile.ts'
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

/** Returns a new access key. Throws a CliError with the server's reason when the ID token is refused. */
export async function exchangeIdToken(
  io: Io,
  { server, certificateAuthority, clientID, tokenFile }: Exchange,
): Promise<string> {
  const idToken = await readIfThere(tokenFile)
  if (idToken === undefined) throw new CliError(`The file of the ID token, ${tokenFile}, does not exist.`)
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    client_id: clientID,
    subject_token: idToken.trim(),
  })
  const { code, headers, text } = await sendHttps({
    url: new URL(`${server}/oauth2/token`),
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    certificateAuthority,
    signal: io.signal,
  })
  const answer = parsed(text)
  if (code === 200 && typeof answer?.access_token === 'string') return answer.access_token
  if (typeof answer?.error === 'string') {
    const why = typeof answer.error_description === 'string' ? answer.error_description : answer.error
    throw new CliError(`The ID token was not exchanged for a key: ${why}`, { exitCode: code < 500 ? 4 : 1 })
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
