/** Signs a person in with the identity provider of their company: to it and back. */
import { apiRoot, consoleRoot } from '../api/root.ts'
import { type Attempt, keepAttempt, newAttempt, takeAttempt } from './attempt.ts'
import { authorizationURL, codeOf, isAnswer } from './codeflow.ts'
import { type ExchangedKey, exchange, redeem } from './exchange.ts'
import { readProvider } from './provider.ts'
import type { SignInSettings } from './signinsettings.ts'
import { tabStorage } from './tabstorage.ts'

/** An answer of an identity provider, and the attempt that it may belong to. */
export interface Returned {
  search: string
  attempt: Attempt | undefined
}

/** Leaves for the identity provider. Throws a KnownError if it cannot be used. */
export async function leaveToSignIn(settings: SignInSettings, keep: boolean): Promise<void> {
  const provider = await readProvider(settings)
  const attempt = newAttempt({ hash: location.hash, keep })
  const address = await authorizationURL(provider, settings, attempt, consoleRoot.href)
  keepAttempt(tabStorage, attempt)
  location.assign(address)
}

/**
 * Returns the answer in the address, and removes it from the address and the history: it contains a code. Must run before anything
 * else. The page of before is in the address again.
 */
export function takeReturned(): Returned | undefined {
  const { search, pathname, hash } = location
  if (search === '') return undefined
  const returned = isAnswer(search) ? { search, attempt: takeAttempt(tabStorage) } : undefined
  history.replaceState(null, '', `${pathname}${returned?.attempt?.hash ?? hash}`)
  return returned
}

/** Returns the access key that an answer leads to. Throws a KnownError, or a NetworkError of the API. */
export async function keyOf({ search, attempt }: Returned, settings: SignInSettings): Promise<ExchangedKey> {
  const provider = await readProvider(settings)
  const code = codeOf(search, attempt, settings, provider)
  const idToken = await redeem(code, attempt as Attempt, settings, provider, consoleRoot.href)
  return await exchange(idToken, settings, apiRoot)
}
