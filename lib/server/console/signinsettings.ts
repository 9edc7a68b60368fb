/** The settings with which people sign in to the console with an identity provider of their company. */
export interface SignInSettings {
  /** Issuer (`iss`) of the ID tokens, below which its discovery document is. */
  issuer: string
  /** The name of the console at the identity provider, and the audience of its ID tokens. */
  clientID: string
  /** `NAME@UID` of the FederatedIdentityCredential that exchanges ID tokens for access keys. */
  credential: string
  /** Further origins of the identity provider that the console may call. */
  origins: readonly string[]
}

/** Returns the origins that the console calls to sign somebody in. */
export const originsOf = ({ issuer, origins }: SignInSettings): string[] => [
  ...new Set([new URL(issuer).origin, ...origins]),
]

/** Returns the element of the page that the console reads the settings from. */
export const metaElement = (settings: SignInSettings): string =>
  `<meta name="keyplane-sign-in" content="${escapeAttribute(JSON.stringify(settings))}">`

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeAttribute = (text: string): string => text.replace(/[&<>"']/g, (one) => ESCAPES[one] ?? one)
