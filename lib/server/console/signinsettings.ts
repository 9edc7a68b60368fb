/** Writes the settings for signing in with an identity provider into the page of the console and its policy. */
import { escapeHtml } from '../../meta/value/html.ts'
import type { ConsoleSignIn } from '../process/config.ts'

/** Returns the origins that the console calls to sign somebody in. */
export const originsOf = ({ issuer, origins }: ConsoleSignIn): string[] => [
  ...new Set([new URL(issuer).origin, ...origins]),
]

/** Returns the element of the page that the console reads the settings from. */
export function metaElement(settings: ConsoleSignIn): string {
  const { issuer, clientID, credential, scopes } = settings
  const text = JSON.stringify({ issuer, clientID, credential, scopes, origins: originsOf(settings) })
  return `<meta name="keyplane-sign-in" content="${escapeHtml(text).replaceAll('"', '&quot;')}">`
}
