/** Exchanges an ID token for an access key at the API. */
import { exchangeForm } from '../../../core/src/exchange.ts'
import { type Answer, sendForm } from '../api/request.ts'
import { KnownError } from '../api/status.ts'
import { shortened } from './provider.ts'
import type { SignInSettings } from './signinsettings.ts'

export interface ExchangedKey {
  key: string
  /** When the key expires, in milliseconds. */
  ends: number
}

/** The server fetches the keys of an issuer once a minute, so two waits are enough for a new one. */
const ATTEMPTS = 3
const LONGEST_WAIT_SECONDS = 60

/**
 * Returns the access key for an ID token. Tries again after `wait` if the server says when, as while the issuer has a new key.
 * Throws a KnownError with the reason of the API.
 */
export async function exchange(
  idToken: string,
  { credential }: SignInSettings,
  api: URL,
  wait: (seconds: number) => Promise<void>,
): Promise<ExchangedKey> {
  for (let attempt = 1; ; attempt++) {
    const asked = Date.now()
    const { status, answer, retryAfter } = await sendForm(
      new URL('oauth2/token', api),
      exchangeForm(credential, idToken),
    )
    const { access_token: key, expires_in: seconds } = answer
    if (status === 200 && typeof key === 'string' && typeof seconds === 'number') {
      return { key, ends: asked + seconds * 1000 }
    }
    const isPassing = status === 503 && retryAfter !== undefined && retryAfter <= LONGEST_WAIT_SECONDS
    if (!isPassing || attempt === ATTEMPTS) throw refusedExchange(status, answer, credential)
    await wait(retryAfter)
  }
}

/** The text of the API for everything that is wrong before it knows whose token it is. */
const NOT_ACCEPTED = 'the subject token is not accepted for this client_id'

/** Returns the error for a refused exchange. It blames the account only for what the API says of its claims. */
function refusedExchange(status: number, answer: Answer, credential: string): KnownError {
  // The answer of the endpoint, or that of the gateway.
  const reason = answer.error_description ?? answer.message
  const details = [typeof reason === 'string' ? shortened(reason) : `The server answered with code ${status}.`]
  const name = `The federated identity credential ${credential.split('@')[0]}`
  if (status !== 400) {
    return new KnownError({ title: 'The server cannot check your sign-in at the moment.', details, next: 'Try again.' })
  }
  if (reason === NOT_ACCEPTED) {
    const next = `${name} or its identity provider has another issuer, audience, algorithm or claim, or is disabled. Ask an administrator: the audit record has the reason.`
    return new KnownError({ title: 'The server does not accept this sign-in.', details, next })
  }
  const next = `${name} decides who may sign in. Ask an administrator.`
  return new KnownError({ title: 'You cannot sign in here with this account.', details, next })
}
