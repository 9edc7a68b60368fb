/** Signs a person in with the identity provider of their company: to it and back. A script of its own, for those who do. */
import { generateRandomCodeVerifier, generateRandomNonce, generateRandomState } from 'oauth4webapi'
import { apiRoot, consoleRoot } from '../api/root.ts'
import { type Attempt, asksAccount, keepAttempt, type Returned } from './attempt.ts'
import { sharedStorage, tabStorage } from './browserstorage.ts'
import { authorizationURL, parametersOf, redeem } from './codeflow.ts'
import { type ExchangedKey, exchange } from './exchange.ts'
import { readProvider } from './provider.ts'
import type { SignInSettings } from './signinsettings.ts'

export interface Leaving {
  /** Keep the key over a reload of this tab. */
  keep: boolean
  onLeave?(): void
}

/** Leaves for the identity provider, after `onLeave`. Throws a KnownError if it cannot be used. */
export async function leaveToSignIn(settings: SignInSettings, { keep, onLeave }: Leaving): Promise<void> {
  const provider = await readProvider(settings)
  const attempt: Attempt = {
    state: generateRandomState(),
    nonce: generateRandomNonce(),
    verifier: generateRandomCodeVerifier(),
    hash: location.hash,
    keep,
  }
  const address = await authorizationURL(provider, settings, attempt, consoleRoot.href, asksAccount(sharedStorage))
  keepAttempt(tabStorage, attempt)
  onLeave?.()
  location.assign(address)
}

/**
 * Returns the address at which the person signs out at the identity provider, if it has one (OpenID Connect RP-Initiated Logout
 * 1.0). It has no ID token, which the console does not keep: the identity provider asks the person. Throws a KnownError.
 */
export async function signOutAddress(settings: SignInSettings): Promise<string | undefined> {
  const { endSession } = await readProvider(settings)
  endSession?.searchParams.set('client_id', settings.clientID)
  return endSession?.href
}

/** Returns the access key that an answer leads to, after `wait` if the server says so. Throws a KnownError, or a NetworkError of the API. */
export async function keyOf(
  { search, attempt }: Returned,
  settings: SignInSettings,
  wait: (seconds: number) => Promise<void>,
): Promise<ExchangedKey> {
  const provider = await readProvider(settings)
  const parameters = parametersOf(search, attempt, settings, provider)
  const idToken = await redeem(parameters, attempt as Attempt, settings, provider, consoleRoot.href)
  return await exchange(idToken, settings, apiRoot, wait)
}
