/** Exchanges ID tokens for access keys (RFC 8693), and revokes such keys (RFC 7009). */
import { isStatus, mayPass } from '../../../core/src/answers.ts'
import { exchangeForm, FORM_TYPE } from '../../../core/src/exchange.ts'
import { isBearer } from '../../../core/src/forms.ts'
import { Failure } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'
import { type Answer, send } from './https.ts'
import { objectOf, refusal, wrongUrl } from './refusal.ts'

export interface Api {
  /** Without a slash at its end. */
  url: string
  /** PEM. */
  certificateAuthority?: string
  /** The namespaces of projects begin with it. Absent before the server has said it. */
  projectNamespacePrefix?: string
}

export interface AccessKey {
  key: string
  /** Unix milliseconds. */
  expires: number
}

const sendForm = ({ url, certificateAuthority }: Api, path: string, form: string): Promise<Answer> =>
  send({
    url: `${url}/oauth2/${path}`,
    method: 'POST',
    headers: { 'content-type': FORM_TYPE, accept: 'application/json' },
    body: form,
    ...(certificateAuthority && { authorities: certificateAuthority }),
  })

/** Returns the access key for an ID token. The key is masked. */
export async function exchange(
  api: Api,
  { credential, scope, idToken }: { credential: string; scope?: string; idToken: string },
  log: Pick<Log, 'mask'>,
): Promise<AccessKey> {
  const asked = Date.now()
  const answer = await sendForm(api, 'token', exchangeForm(credential, idToken, scope))
  const { access_token: key, expires_in: seconds } = objectOf(answer) ?? {}
  if (typeof key === 'string') log.mask(key)
  if (answer.code !== 200) throw refused('the exchange of the ID token for an access key', answer)
  if (!isBearer(key) || typeof seconds !== 'number' || !(seconds > 0))
    throw new Failure(`${answer.url} answered without an access key: is url the URL of the API?`)
  return { key, expires: asked + seconds * 1000 }
}

/** Revokes the key of an exchange. A key that is no longer valid is not a failure. */
export async function revoke(api: Api, key: string): Promise<void> {
  const answer = await sendForm(api, 'revoke', new URLSearchParams({ token: key }).toString())
  if (answer.code !== 200) throw refused('the revocation of the access key', answer)
}

/** Returns the failure of an OAuth endpoint. The Kubernetes API answers with a Status at paths that do not exist. */
function refused(what: string, answer: Answer): Failure {
  const isElsewhere = !mayPass(answer.code) && isStatus(objectOf(answer))
  return isElsewhere ? new Failure(`${what} failed: ${wrongUrl(answer)}`) : refusal(what, answer)
}
