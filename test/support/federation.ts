/** Sets up identity providers and trusts on a server, and exchanges ID tokens there as a CI job does. */
import { readIdTokenShape } from './idtokens.ts'
import { startIssuer, type TestIssuer, type TokenOptions } from './issuer.ts'
import { apiVersion, management } from './objects.ts'
import type { Answer } from './request.ts'
import type { TestServer } from './server.ts'

export const providers = `${management}/identityproviders`
export const trusts = `${management}/federatedidentitycredentials`
export const tokenPath = '/oauth2/token'
export const revokePath = '/oauth2/revoke'

/** Returns the claims of a recorded ID token, without its times, audience and id. */
export async function claimsOf(fixture: string): Promise<Record<string, unknown>> {
  const { claims } = await readIdTokenShape(fixture)
  const { iat: _, exp: __, nbf: ___, aud: ____, jti: _____, ...rest } = claims
  return rest
}

const githubIssuer = 'https://token.actions.githubusercontent.com'

export const provider = (name: string, spec: object) => ({
  apiVersion,
  kind: 'IdentityProvider',
  metadata: { name },
  spec: { access: [{ verbs: ['use'], teams: ['*'] }], ...spec },
})

export const trust = (name: string, spec: object) => ({
  apiVersion,
  kind: 'FederatedIdentityCredential',
  metadata: { name },
  spec,
})

/** Returns the `client_id` of a trust. */
export const clientOf = ({ metadata }: { metadata: { name: string; uid: string } }): string =>
  `${metadata.name}@${metadata.uid}`

/** Parameters that replace the usual ones; undefined leaves one out. */
export type Parameters = Readonly<Record<string, string | undefined>>

export function exchangeForm(client: string, token: string, more: Parameters = {}): string {
  const all = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    client_id: client,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: token,
    ...more,
  }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams(given).toString()
}

/** Sends a form to a public endpoint. */
export const sendForm = (
  server: Pick<TestServer, 'call'>,
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  server.call(path, {
    method: 'POST',
    token: '',
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

export interface Federation {
  issuer: TestIssuer
  /** The claims of a job of GitHub on branch main, in repository 74 of owner 65. */
  job: Readonly<Record<string, unknown>>
  /** Signs a token of the job for this server. Each one is another token. */
  sign(claims?: Record<string, unknown>, options?: TokenOptions): string
  /** Exchanges a token for a key of a trust. */
  exchange(client: string, token: string, more?: Parameters, headers?: Record<string, string>): Promise<Answer>
  /** Creates a trust of the administrator and returns its `client_id`. By default it binds the repository. */
  trust(name: string, spec?: object): Promise<string>
  close(): Promise<void>
}

/** Starts an issuer that signs as GitHub, and creates the provider `github` for it with pinned keys. */
export async function startFederation(server: TestServer, spec: object = {}): Promise<Federation> {
  const [issuer, job] = await Promise.all([startIssuer({ issuer: githubIssuer }), claimsOf('github.branch')])
  const claims = [{ claim: 'repository_owner_id', values: ['65'] }]
  await server.make(providers, provider('github', { issuer: githubIssuer, jwks: issuer.jwks(), claims, ...spec }))
  let count = 0
  return {
    issuer,
    job,
    sign: (claims = {}, options = {}) =>
      issuer.sign({ ...job, aud: server.base, jti: `job-${++count}`, ...claims }, options),
    exchange: (client, token, more, headers) => sendForm(server, tokenPath, exchangeForm(client, token, more), headers),
    async trust(name, own = {}) {
      const bound = [{ claim: 'repository_id', values: ['74'] }]
      const scope = { projects: [{ project: 'shop' }] }
      const made = { identityProvider: 'github', claims: bound, team: 'shop', scope, ...own }
      return clientOf(await server.make(trusts, trust(name, made)))
    },
    close: () => issuer.close(),
  }
}
