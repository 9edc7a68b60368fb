/** Runs oidc-provider, an OpenID provider of others, over TLS, and logs people in with the code flow and PKCE. */

import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createRequire } from 'node:module'
import type { Destinations } from '../../lib/engine/outbound/addresses.ts'
import { sendHttps } from '../../lib/engine/outbound/https.ts'
import { SERVER_AUTH, testAuthority } from '../lib/clusters/authority.ts'
import { listening } from './listening.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** What is used of the package. */
interface Provider {
  callback(): Handler
  interactionDetails(...exchange: Parameters<Handler>): Promise<{ params: { client_id: string } }>
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  Grant: new (of: {
    accountId: string
    clientId: string
  }) => { addOIDCScope(scope: string): void; save(): Promise<string> }
}

const { Provider: OidcProvider } = createRequire(import.meta.url)('oidc-provider') as {
  Provider: new (issuer: string, configuration: object) => Provider
}

/** The audience of the ID tokens. */
export const oidcClientId = 'keyplane'
const redirectUri = 'https://app.test/callback'

export interface OidcProviderOptions {
  /** Where a browser may be sent back to, besides the address of `login`. */
  redirectURIs?: readonly string[]
}

export interface TestOidcProvider {
  issuer: string
  certificateAuthority: string
  destinations: Destinations
  /** Signs with a new key from now on, in this algorithm, and publishes only that one. */
  rotate(alg: OidcAlgorithm): void
  /** Logs a person in and returns the ID token. */
  login(accountId: string): Promise<string>
  /** Logs this person in whenever a browser comes. */
  expect(accountId: string): void
  /** Refuses every browser with an error in the form of OAuth. */
  refuse(error: { error: string; error_description?: string }): void
  /** Sets whether pages of other origins may call the token endpoint. */
  allowCORS(allows: boolean): void
  /** Returns its public keys, as it publishes them. */
  readKeys(): Promise<string>
  close(): Promise<void>
}

export type OidcAlgorithm = 'RS256' | 'PS256' | 'ES256'

function makeKey(alg: OidcAlgorithm): object {
  const { privateKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig' }
}

/** Returns a store in memory. The one of the package warns on every start. */
function memoryAdapter() {
  const payloads = new Map<string, Record<string, unknown>>()
  return class {
    readonly model: string

    constructor(model: string) {
      this.model = model
    }

    async upsert(id: string, payload: Record<string, unknown>): Promise<void> {
      payloads.set(`${this.model}:${id}`, payload)
    }

    async find(id: string): Promise<Record<string, unknown> | undefined> {
      return payloads.get(`${this.model}:${id}`)
    }

    async findByUid(uid: string): Promise<Record<string, unknown> | undefined> {
      return [...payloads.values()].find((payload) => payload.kind === this.model && payload.uid === uid)
    }

    async consume(id: string): Promise<void> {
      payloads.set(`${this.model}:${id}`, { ...(await this.find(id)), consumed: Math.floor(Date.now() / 1000) })
    }

    async destroy(id: string): Promise<void> {
      payloads.delete(`${this.model}:${id}`)
    }
  }
}

export async function startOidcProvider({ redirectURIs = [] }: OidcProviderOptions = {}): Promise<TestOidcProvider> {
  const authority = await testAuthority('provider authority')
  const tls = await authority.pair({ names: ['login.test'], usages: [SERVER_AUTH] })
  let handler: Handler
  const server = createServer({ cert: tls.certificate, key: tls.key }, (request, response) => {
    handler(request, response)
  })
  const { port, stop } = await listening(server)
  const issuer = `https://login.test:${port}`
  let accountId = ''
  let refusal: object | undefined
  let allowsCORS = true

  function rotate(alg: OidcAlgorithm): void {
    const provider = new OidcProvider(issuer, {
      jwks: { keys: [makeKey(alg)] },
      clientBasedCORS: () => allowsCORS,
      adapter: memoryAdapter(),
      ttl: { AccessToken: 300, AuthorizationCode: 60, Grant: 300, IdToken: 300, Interaction: 60, Session: 300 },
      clients: [
        {
          client_id: oidcClientId,
          redirect_uris: [redirectUri, ...redirectURIs],
          token_endpoint_auth_method: 'none',
          id_token_signed_response_alg: alg,
        },
      ],
      cookies: { keys: [randomBytes(16).toString('hex')] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      scopes: ['openid', 'email', 'groups'],
      conformIdTokenClaims: false,
      findAccount: (_: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true, groups: ['engineering'] }),
      }),
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    })
    const rest = provider.callback()
    handler = (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return rest(request, response)
      finish(provider, request, response).catch((error: Error) => response.destroy(error))
    }
  }

  /** Answers the question who the person is, and what the client may learn. */
  async function finish(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await provider.interactionDetails(request, response)
    if (refusal) return await provider.interactionFinished(request, response, refusal)
    const grant = new provider.Grant({ accountId, clientId: params.client_id })
    grant.addOIDCScope('openid email groups')
    await provider.interactionFinished(request, response, {
      login: { accountId },
      consent: { grantId: await grant.save() },
    })
  }

  const destinations: Destinations = {
    allows: (address) => address === '127.0.0.1',
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  }
  const transport = {
    signal: new AbortController().signal,
    maxBytes: 1024 * 1024,
    certificateAuthority: authority.certificate,
    destinations,
  }

  /** Follows the redirects of a browser until they leave the provider, and returns where they lead. */
  async function browse(start: URL): Promise<URL> {
    const cookies = new Map<string, string>()
    for (let url = start; ; ) {
      if (url.origin !== start.origin) return url
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
      const { status, headers, body } = await sendHttps({ ...transport, url, method: 'GET', headers: { cookie } })
      for (const one of headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
        cookies.set(name, value)
      }
      if (headers.location === undefined) throw new Error(`${url.pathname}: ${status} ${body}`)
      url = new URL(headers.location, url)
    }
  }

  rotate('RS256')
  return {
    issuer,
    certificateAuthority: authority.certificate,
    destinations,
    rotate,
    async readKeys() {
      const { body } = await sendHttps({ ...transport, url: new URL(`${issuer}/jwks`), method: 'GET', headers: {} })
      return body.toString()
    },
    expect(who) {
      accountId = who
      refusal = undefined
    },
    refuse(error) {
      refusal = error
    },
    allowCORS(allows) {
      allowsCORS = allows
    },
    async login(who) {
      accountId = who
      const verifier = randomBytes(32).toString('base64url')
      const start = new URL(`${issuer}/auth`)
      start.search = new URLSearchParams({
        client_id: oidcClientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email groups',
        nonce: randomBytes(8).toString('hex'),
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }).toString()
      const back = await browse(start)
      const code = back.searchParams.get('code')
      if (!code) throw new Error(`the provider sent the browser to ${back}`)
      const { body } = await sendHttps({
        ...transport,
        url: new URL(`${issuer}/token`),
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: oidcClientId,
          redirect_uri: redirectUri,
          code,
          code_verifier: verifier,
        }).toString(),
      })
      const { id_token: token } = JSON.parse(body.toString()) as { id_token?: string }
      if (!token) throw new Error(`the provider gave no ID token: ${body}`)
      return token
    },
    close: stop,
  }
}
