/** Gets the ID token of the job from GitHub. */
import { getCACertificates } from 'node:tls'
import { Failure } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'
import { send } from './https.ts'
import { objectOf, passing } from './refusal.ts'

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

const MISSING = `this job has no ID token. Add these lines to the workflow or to the job, and to the job that calls it if this is a reusable workflow:
permissions:
  id-token: write
  contents: read
Workflows that a pull request of a fork or Dependabot starts get no ID token, whatever their permissions say.`

export interface IdTokenRequest {
  env: NodeJS.ProcessEnv
  audience: string
  /** PEM of the API's authority. GitHub Enterprise Server often has a certificate of the same one. */
  certificateAuthority?: string
}

/** Returns a new ID token, which is masked. Throws a Failure that says what the workflow lacks. */
export async function getIdToken(
  { env, audience, certificateAuthority }: IdTokenRequest,
  log: Pick<Log, 'mask'>,
): Promise<string> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl, ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken } = env
  const url = URL.parse(requestUrl ?? '')
  if (!url || !requestToken) throw new Failure(MISSING)
  if (url.protocol !== 'https:') throw new Failure('ACTIONS_ID_TOKEN_REQUEST_URL is not an https URL')
  url.searchParams.set('audience', audience)
  const answer = await send({
    url: url.href,
    method: 'GET',
    headers: { authorization: `Bearer ${requestToken}`, accept: 'application/json' },
    ...(certificateAuthority && { authorities: [...getCACertificates('default'), certificateAuthority] }),
  })
  const value = objectOf(answer)?.value
  if (typeof value === 'string') log.mask(value)
  const { code } = answer
  if (code !== 200)
    throw new Failure(`GitHub answered ${code} to the request for an ID token of this job`, passing(answer))
  if (typeof value !== 'string' || !JWT.test(value)) throw new Failure('GitHub answered without an ID token')
  return value
}
