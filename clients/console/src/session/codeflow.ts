/** The authorization code flow with PKCE (RFC 6749 section 4.1, RFC 7636): the address to go to, and the answer that comes back. */
import { KnownError } from '../api/status.ts'
import { type Attempt, challengeOf } from './attempt.ts'
import { type Provider, providerFailure, shortened } from './provider.ts'
import type { SignInSettings } from './signinsettings.ts'

/** Returns the address at the identity provider where the person signs in. `choose`: it asks for the account in any case. */
export async function authorizationURL(
  { authorization, choice }: Provider,
  { clientID, scopes }: SignInSettings,
  { state, nonce, verifier }: Attempt,
  redirect: string,
  choose = false,
): Promise<string> {
  const url = new URL(authorization)
  const parameters = {
    response_type: 'code',
    client_id: clientID,
    redirect_uri: redirect,
    scope: scopes,
    state,
    nonce,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    ...(choose && { prompt: choice }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** Returns the code in the answer to an attempt. Throws a KnownError for every other answer. */
export function codeOf(
  search: string,
  attempt: Attempt | undefined,
  { issuer }: SignInSettings,
  { namesIssuer }: Provider,
): string {
  const query = new URLSearchParams(search)
  const only = (name: string): string | undefined => {
    const [value, ...others] = query.getAll(name)
    if (others.length > 0) throw foreignAnswer()
    return value
  }
  // First of all: nothing else in an answer to somebody else's attempt may count.
  if (attempt === undefined || only('state') !== attempt.state) throw foreignAnswer()
  // An answer of another provider must not reach the token endpoint of this one (RFC 9207).
  const named = only('iss')
  if (named === undefined ? namesIssuer : named !== issuer) throw foreignAnswer()
  const error = only('error')
  if (error !== undefined) throw refusal(error, only('error_description'))
  const code = only('code')
  if (!code) throw providerFailure('Its answer has no code.')
  return code
}

const foreignAnswer = (): KnownError =>
  new KnownError({
    title: 'This sign-in was not started in this tab.',
    details: [],
    next: 'If you have not started it, close the page that led here. Otherwise sign in again.',
  })

/** Returns the error for a refusal in the form of OAuth. The texts are those of the identity provider. */
export function refusal(error: unknown, description: unknown): KnownError {
  const texts = [error, description].filter((text) => typeof text === 'string' && text !== '')
  return new KnownError({
    title: 'Your identity provider refused the sign-in.',
    details: texts.length > 0 ? [shortened(texts.join(': '))] : [],
    next: 'Try again, or sign in with an access key.',
  })
}

/**
 * Throws a KnownError unless the ID token belongs to the attempt. The API verifies everything else of the token; only the console
 * knows the nonce.
 */
export function checkNonce(idToken: string, { nonce }: Attempt): void {
  if (nonceOf(idToken) !== nonce) throw foreignAnswer()
}

function nonceOf(idToken: string): unknown {
  try {
    const [, payload = ''] = idToken.split('.')
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof claims === 'object' && claims !== null ? (claims as { nonce?: unknown }).nonce : undefined
  } catch {
    return undefined
  }
}
