/** The authorization code flow with PKCE (RFC 6749 section 4.1, RFC 7636): the address to go to, and the answer that comes back. */
import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  type Client,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  None,
  type OperationProcessingError,
  processAuthorizationCodeResponse,
  ResponseBodyError,
  validateAuthResponse,
} from 'oauth4webapi'
import { asSentence } from '../../../core/src/answers.ts'
import { KnownError } from '../api/status.ts'
import type { Attempt } from './attempt.ts'
import { askProvider, type Provider, providerFailure, shortened } from './provider.ts'
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
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(choose && { prompt: choice }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** The API checks the times of an ID token. The clock of this device may be wrong by years. */
const clientOf = ({ clientID }: SignInSettings): Client => ({ client_id: clientID, [clockTolerance]: 1e9 })

/** Returns the parameters of the answer to an attempt. Throws a KnownError for every other answer. */
export function parametersOf(
  search: string,
  attempt: Attempt | undefined,
  settings: SignInSettings,
  { server }: Provider,
): URLSearchParams {
  // First of all: nothing else in an answer to somebody else's attempt may count.
  if (attempt === undefined) throw foreignAnswer()
  try {
    return validateAuthResponse(server, clientOf(settings), new URLSearchParams(search), attempt.state)
  } catch (error) {
    throw error instanceof AuthorizationResponseError ? refusal(error) : foreignAnswer()
  }
}

/** Returns the ID token for the code in an answer. Throws a KnownError. */
export async function redeem(
  parameters: URLSearchParams,
  { verifier, nonce }: Attempt,
  settings: SignInSettings,
  { server }: Provider,
  redirect: string,
): Promise<string> {
  if (!parameters.get('code')) throw providerFailure('Its answer has no code.')
  const client = clientOf(settings)
  const ask = { [customFetch]: askProvider }
  const expected = { expectedNonce: nonce, requireIdToken: true }
  try {
    const response = await authorizationCodeGrantRequest(server, client, None(), parameters, redirect, verifier, ask)
    return (await processAuthorizationCodeResponse(server, client, response, expected)).id_token as string
  } catch (error) {
    if (error instanceof KnownError) throw error
    if (error instanceof ResponseBodyError) throw refusal(error)
    const { message, cause } = error as OperationProcessingError
    if (cause instanceof Response && !cause.ok) throw refusal({ error: `code ${cause.status}` })
    if ((cause as { claim?: unknown } | undefined)?.claim === 'nonce') throw foreignAnswer()
    throw providerFailure(asSentence(`Its answer has no valid ID token: ${shortened(message)}`))
  }
}

const foreignAnswer = (): KnownError =>
  new KnownError({
    title: 'This sign-in was not started in this tab.',
    details: [],
    next: 'If you have not started it, close the page that led here. Otherwise sign in again.',
  })

/** Returns the error for a refusal in the form of OAuth. The texts are those of the identity provider. */
const refusal = ({ error, error_description }: { error: string; error_description?: string | undefined }): KnownError =>
  new KnownError({
    title: 'Your identity provider refused the sign-in.',
    details: [shortened([error, error_description].filter(Boolean).join(': '))],
    next: 'Try again, or sign in with an access key.',
  })
