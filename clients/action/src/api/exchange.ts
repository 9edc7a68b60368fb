/** Exchanges ID tokens for access keys or for tokens of clusters (RFC 8693), and revokes both (RFC 7009). */
import { isStatus, mayPass, objectIn } from '../../../core/src/answers.ts'
import { CLUSTER_TOKEN_TYPE, exchangeForm, FORM_TYPE, KUBE_CONFIG_TYPE } from '../../../core/src/exchange.ts'
import { isBearer } from '../../../core/src/forms.ts'
import { warningsIn } from '../../../core/src/warnings.ts'
import { Failure } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'
import { type Answer, send } from './https.ts'
import { objectOf, refusal, wrongUrl } from './refusal.ts'
import { audiencesOf, describe, type Target } from './target.ts'
import { tokensIn } from './writtentokens.ts'

export interface Api {
  /** Without a slash at its end. */
  url: string
  /** PEM. */
  certificateAuthority?: string
  /** The namespaces of projects begin with it. Absent before the server has said it. */
  projectNamespacePrefix?: string
}

/** What an exchange has granted: an access key, or a token of one cluster. */
export interface Granted {
  credential: string
  /** The tokens of further clusters, of the same exchange. */
  others?: readonly string[]
  /** Unix milliseconds. */
  expires: number
}

/** What an exchange needs. */
export interface Given {
  credential: string
  scope?: string
  idToken: string
}

const sendForm = (
  { url, certificateAuthority }: Api,
  path: string,
  form: string,
  accept = 'application/json',
): Promise<Answer> =>
  send({
    url: `${url}/oauth2/${path}`,
    method: 'POST',
    headers: { 'content-type': FORM_TYPE, accept },
    body: form,
    ...(certificateAuthority && { authorities: certificateAuthority }),
  })

/** Returns the access key for an ID token or, with a target, the token of a cluster. It is masked. */
export async function exchange(
  api: Api,
  { credential, idToken, scope, target }: Given & { target?: Target },
  log: Pick<Log, 'mask' | 'warning'>,
): Promise<Granted> {
  const asked = Date.now()
  const what = target === undefined ? 'an access key' : `a token of ${describe(target)}`
  const answer = await sendForm(
    api,
    'token',
    exchangeForm(credential, idToken, { scope, audience: audiencesOf(target) }),
  )
  const { access_token: granted, expires_in: seconds, issued_token_type: type } = objectOf(answer) ?? {}
  if (typeof granted === 'string') log.mask(granted)
  if (answer.code !== 200) throw refused(`the exchange of the ID token for ${what}`, answer)
  // A server that ignored the target would have answered with a key that may do more.
  const isAsked = target === undefined || type === CLUSTER_TOKEN_TYPE
  if (!isAsked || !isBearer(granted) || typeof seconds !== 'number' || !(seconds > 0))
    throw new Failure(`${answer.url} answered without ${what}: is url the URL of the API?`)
  showWarnings(answer, log)
  return { credential: granted, expires: asked + seconds * 1000 }
}

/** Returns the kube config of the clusters for an ID token. Its tokens are masked. */
export async function exchangeForKubeConfig(
  api: Api,
  { credential, idToken, scope, target }: Given & { target: Target },
  log: Pick<Log, 'mask' | 'warning'>,
): Promise<Granted & { text: string }> {
  const form = exchangeForm(credential, idToken, { scope, audience: audiencesOf(target) })
  const answer = await sendForm(api, 'token', form, KUBE_CONFIG_TYPE)
  const tokens = tokensIn(answer.text)
  for (const token of tokens) log.mask(token)
  const [first = '', ...others] = tokens
  if (answer.code !== 200)
    throw refused(`the exchange of the ID token for a kube config of ${describe(target)}`, answer)
  const expires = Math.min(...tokens.map((token) => expiryOf(token) ?? Number.NaN))
  // A server that knows one audience would have answered for one of them.
  if (tokens.length !== audiencesOf(target).length || Number.isNaN(expires))
    throw new Failure(`${answer.url} answered without a kube config of ${describe(target)}: is url the URL of the API?`)
  showWarnings(answer, log)
  return { credential: first, expires, text: answer.text, ...(others.length > 0 && { others }) }
}

/** Returns when a token expires, in Unix milliseconds, as it says. Undefined for a text that is no such token. */
function expiryOf(token: string): number | undefined {
  const seconds = objectIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())?.exp
  return typeof seconds === 'number' ? seconds * 1000 : undefined
}

function showWarnings({ headers }: Answer, log: Pick<Log, 'warning'>): void {
  for (const text of warningsIn(headers.warning ?? [])) log.warning(text)
}

/** What a revocation has done. */
export interface Revoked {
  /** Whether the credential has ended by it. Otherwise it had ended before. */
  isRevoked: boolean
  /** The clusters that may accept the credential until it expires. */
  unconfirmed: string[]
}

/** Revokes what an exchange has granted. What is no longer valid is not a failure. */
export async function revoke(api: Api, credential: string): Promise<Revoked> {
  const answer = await sendForm(api, 'revoke', new URLSearchParams({ token: credential }).toString())
  if (answer.code !== 200) throw refused('the revocation of the credential', answer)
  const { revoked, unconfirmed } = objectOf(answer) ?? {}
  const clusters = Array.isArray(unconfirmed) ? unconfirmed.filter((one) => typeof one === 'string') : []
  return { isRevoked: revoked === true, unconfirmed: clusters }
}

/** Returns the failure of an OAuth endpoint. The Kubernetes API answers with a Status at paths that do not exist. */
function refused(what: string, answer: Answer): Failure {
  const isElsewhere = !mayPass(answer.code) && isStatus(objectOf(answer))
  return isElsewhere ? new Failure(`${what} failed: ${wrongUrl(answer)}`) : refusal(what, answer)
}
