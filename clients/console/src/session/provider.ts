/** Asks the identity provider where its endpoints are (OpenID Connect Discovery 1.0), and sends it requests. */
import type { AuthorizationServer } from 'oauth4webapi'
import { objectIn } from '../../../core/src/answers.ts'
import { type Answer, fetchPrivately } from '../api/request.ts'
import { KnownError } from '../api/status.ts'
import type { SignInSettings } from './signinsettings.ts'

export interface Provider {
  /** What its discovery document says. */
  server: AuthorizationServer
  authorization: URL
  /** The `prompt` with which it asks for the account. Every one knows `login` (OpenID Connect Core 1.0 section 15.1). */
  choice: 'select_account' | 'login'
  /** Where a person signs out, if it has one. */
  endSession?: URL
}

const LONGEST = 300
const NEXT =
  'Try again, or sign in with an access key. An administrator finds more in the documentation of the console.'

/** Returns a text of the identity provider that is short enough to show. */
export const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** Returns the error for an identity provider that answers something else than the protocol says. */
export const providerFailure = (detail: string): KnownError =>
  new KnownError({ title: 'Your identity provider cannot be used.', details: [detail], next: NEXT })

/** Returns the provider. Throws a KnownError for one that cannot be read, or has endpoints that the deployment does not allow. */
export async function readProvider(settings: SignInSettings): Promise<Provider> {
  const { issuer } = settings
  const response = await askProvider(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const { status } = response
  if (status !== 200) throw providerFailure(`Its discovery document could not be read: code ${status} of ${issuer}.`)
  return providerOf(objectIn(await response.text().catch(() => '')) ?? {}, settings)
}

/** Returns the provider that a discovery document describes. */
export function providerOf(document: Answer, { issuer, origins }: SignInSettings): Provider {
  if (document.issuer !== issuer) {
    throw providerFailure(`It is not ${issuer}: its discovery document names ${shortened(String(document.issuer))}.`)
  }
  const token = endpoint(document, 'token_endpoint')
  if (!origins.includes(token.origin)) {
    throw providerFailure(`Its token endpoint is at ${token.origin}, which the setting console-origins does not allow.`)
  }
  const prompts = document.prompt_values_supported
  const endSession = secureURL(document.end_session_endpoint)
  return {
    server: { ...document, issuer },
    authorization: endpoint(document, 'authorization_endpoint'),
    choice: Array.isArray(prompts) && prompts.includes('select_account') ? 'select_account' : 'login',
    ...(endSession && { endSession }),
  }
}

function endpoint(document: Answer, name: string): URL {
  const url = secureURL(document[name])
  if (url) return url
  throw providerFailure(`Its discovery document has no ${name} with https.`)
}

function secureURL(text: unknown): URL | undefined {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'https:' ? url : undefined
}

/** Sends a request to the identity provider. Throws a KnownError if there is no answer. */
export async function askProvider(url: string, request: RequestInit = {}): Promise<Response> {
  try {
    return await fetchPrivately(url, request)
  } catch {
    // The browser does not tell a host that cannot be reached from one that forbids the request.
    throw providerFailure(`${new URL(url).origin} cannot be reached, or does not allow requests of this page (CORS).`)
  }
}
