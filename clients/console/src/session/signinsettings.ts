/** The settings of the deployment for signing in with an identity provider: lib/server/console/answer.ts writes them. */
export interface SignInSettings {
  /** Issuer (`iss`) of the ID tokens, below which its discovery document is. */
  issuer: string
  /** The name of the console at the identity provider. */
  clientID: string
  /** `NAME@UID` of the FederatedIdentityCredential that exchanges ID tokens for access keys. */
  credential: string
  /** The scopes to ask for, separated by spaces. */
  scopes: string
  /** The origins that the policy of the page allows. */
  origins: readonly string[]
}

/** Reads the content of the element `keyplane-sign-in`. A page without it has none: people sign in with a key only. */
export const signInSettings = (content: string | null | undefined): SignInSettings | undefined =>
  content ? (JSON.parse(content) as SignInSettings) : undefined
