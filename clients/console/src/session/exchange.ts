/** Exchanges a code for an ID token at the identity provider, and the ID token for an access key at the API. */
import { askJSON } from '../api/askjson.ts'
import { KnownError, NetworkError } from '../api/status.ts'
import type { Attempt } from './attempt.ts'
import { checkNonce, refusal } from './codeflow.ts'
import { askProvider, type Provider, providerFailure, shortened } from './provider.ts'
import type { SignInSettings } from './signinsettings.ts'

export interface ExchangedKey {
  key: string
  /** When the key expires, in milliseconds. */
  ends: number
}

/** Returns the ID token for a code. Throws a KnownError. */
export async function redeem(
  code: string,
  attempt: Attempt,
  { clientID }: SignInSettings,
  { token }: Provider,
  redirect: string,
): Promise<string> {
  const { status, answer } = await askProvider(token, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirect,
    client_id: clientID,
    code_verifier: attempt.verifier,
  })
  if (status !== 200) throw refusal(answer.error ?? `code ${status}`, answer.error_description)
  const { id_token: idToken } = answer
  if (typeof idToken !== 'string') throw providerFailure('Its answer has no ID token.')
  checkNonce(idToken, attempt)
  return idToken
}

/** Returns the access key for an ID token. Throws a KnownError with the reason of the API. */
export async function exchange(idToken: string, { credential }: SignInSettings, api: URL): Promise<ExchangedKey> {
  const asked = Date.now()
  const { status, answer } = await send(new URL('oauth2/token', api), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    subject_token: idToken,
    client_id: credential,
  })
  const { access_token: key, expires_in: seconds } = answer
  if (status === 200 && typeof key === 'string' && typeof seconds === 'number') {
    return { key, ends: asked + seconds * 1000 }
  }
  // The answer of the endpoint, or that of the gateway.
  const reason = answer.error_description ?? answer.message
  throw new KnownError({
    title: 'You cannot sign in here with this account.',
    details: [typeof reason === 'string' ? shortened(reason) : `The server answered with code ${status}.`],
    next: `The federated identity credential ${credential.split('@')[0]} decides who may sign in. Ask an administrator.`,
  })
}

/** Ends a key that an exchange made, even while the page is being closed. Throws if it may not have ended. */
export async function revoke(key: string, api: URL): Promise<void> {
  const { status } = await send(new URL('oauth2/revoke', api), { token: key }, true)
  if (status !== 200) throw new Error(`code ${status}`)
}

/** Sends a form to the API. Throws a NetworkError if there is no answer. */
async function send(url: URL, form: Record<string, string>, keepalive = false) {
  try {
    return await askJSON(url, form, { keepalive })
  } catch (error) {
    throw new NetworkError(error)
  }
}
