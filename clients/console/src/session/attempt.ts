/**
 * What the console remembers while a person is at the identity provider: in the session storage of the tab, from which it is taken
 * when the person comes back. It contains no key.
 */
import { type BrowserStorage, readObject } from './browserstorage.ts'

export interface Attempt {
  /** Binds the answer to this tab (RFC 6749 section 10.12). */
  state: string
  /** Binds the ID token to this attempt (OpenID Connect Core 1.0 section 3.1.2.1). */
  nonce: string
  /** Proves that whoever redeems the code has asked for it (RFC 7636). */
  verifier: string
  /** The page of the console to come back to, such as `#/keys/ci`. */
  hash: string
  /** Keep the key over a reload of this tab. */
  keep: boolean
}

const NAME = 'keyplane-sign-in'

export const keepAttempt = (storage: BrowserStorage, attempt: Attempt): void =>
  storage.setItem(NAME, JSON.stringify(attempt))

/** Returns the attempt and forgets it: an answer is accepted once. */
export function takeAttempt(storage: BrowserStorage): Attempt | undefined {
  const attempt = readObject(storage, NAME)
  storage.removeItem(NAME)
  return attempt as Attempt | undefined
}

/** An answer of an identity provider, and the attempt that it may belong to. */
export interface Returned {
  search: string
  attempt: Attempt | undefined
}

/** Reports whether a query is the answer of an identity provider. */
export function isAnswer(search: string): boolean {
  const query = new URLSearchParams(search)
  return query.has('code') || query.has('error')
}

/**
 * The mark that the next sign-in asks for the account, because the last person has signed out or was refused: for all tabs and over a
 * reload, until somebody has signed in at the identity provider. It says nothing about the person.
 */
const ASK_ACCOUNT = 'keyplane-ask-account'

export const asksAccount = (storage: BrowserStorage): boolean => storage.getItem(ASK_ACCOUNT) !== null

export const askAccount = (storage: BrowserStorage): void => storage.setItem(ASK_ACCOUNT, 'yes')

export const forgetAccount = (storage: BrowserStorage): void => storage.removeItem(ASK_ACCOUNT)
