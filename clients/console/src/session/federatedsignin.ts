/** Signs a person in with the identity provider of their company: to it and back. */
import { apiRoot, consoleRoot } from '../api/root.ts'
import { type Attempt, keepAttempt, newAttempt, takeAttempt } from './attempt.ts'
import { authorizationURL, codeOf, isAnswer } from './codeflow.ts'
import { storeDrafts, takeDrafts } from './drafts.ts'
import type { ExchangedKey } from './exchange.ts'
import { readProvider } from './provider.ts'
import type { SignInSettings } from './signinsettings.ts'
import { tabStorage } from './tabstorage.ts'

/** An answer of an identity provider, and the attempt that it may belong to. */
export interface Returned {
  search: string
  attempt: Attempt | undefined
}

export interface Leaving {
  /** Keep the key over a reload of this tab. */
  keep: boolean
  /** Whether the person is asked for the account, although they are signed in at the identity provider. */
  choose?: boolean
  onLeave?(): void
}

/** Leaves for the identity provider, after `onLeave`. Throws a KnownError if it cannot be used. */
export async function leaveToSignIn(
  settings: SignInSettings,
  { keep, choose = false, onLeave }: Leaving,
): Promise<void> {
  const provider = await readProvider(settings)
  const attempt = newAttempt({ hash: location.hash, keep })
  const address = await authorizationURL(provider, settings, attempt, consoleRoot.href, choose)
  keepAttempt(tabStorage, attempt)
  storeDrafts(tabStorage)
  onLeave?.()
  location.assign(address)
}

/**
 * Returns the answer in the address, and removes it from the address and the history: it contains a code. Must run before anything
 * else. The page of before is in the address again.
 */
export function takeReturned(): Returned | undefined {
  const { search, pathname, hash } = location
  takeDrafts(tabStorage)
  if (search === '') return undefined
  const returned = isAnswer(search) ? { search, attempt: takeAttempt(tabStorage) } : undefined
  history.replaceState(null, '', `${pathname}${returned?.attempt?.hash ?? hash}`)
  return returned
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
  const [provider, { exchange, redeem }] = await Promise.all([readProvider(settings), import('./exchange.ts')])
  const code = codeOf(search, attempt, settings, provider)
  const idToken = await redeem(code, attempt as Attempt, settings, provider, consoleRoot.href)
  return await exchange(idToken, settings, apiRoot, wait)
}
