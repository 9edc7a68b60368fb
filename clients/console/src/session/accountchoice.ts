/**
 * Remembers that the next sign-in asks for the account, because the last person has signed out or was refused: for all tabs and over a
 * reload, until somebody has signed in at the identity provider. It says nothing about the person.
 */
import type { BrowserStorage } from './browserstorage.ts'

const NAME = 'keyplane-ask-account'

export const asksAccount = (storage: BrowserStorage): boolean => storage.getItem(NAME) !== null

export const askAccount = (storage: BrowserStorage): void => storage.setItem(NAME, 'yes')

export const forgetAccount = (storage: BrowserStorage): void => storage.removeItem(NAME)
