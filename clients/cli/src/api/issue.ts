/** Asks the server for a credential of a cluster. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import {
  type Create,
  clusterKubeConfig,
  clusterToken,
  EXEC_CREDENTIAL,
  kubeConfig,
} from '../../../core/src/requests.ts'
import { type Credential, credentialIn } from '../credentials/credential.ts'
import type { Issued } from '../credentials/flight.ts'
import { CliError } from '../io/errors.ts'
import { projectNamespace } from './projects.ts'
import { API, type Session } from './session.ts'
import type { ClusterTarget } from './target.ts'

/**
 * `cert`: a client certificate with its key. Only virtual clusters sign any. `account`: the token in the kube config of a connected cluster,
 * where service accounts issue the tokens.
 */
export type Form = 'token' | 'cert' | 'account'

/** Returns the address and the body of a request below that of the server. */
const below = ({ path, body }: Create): { path: string; body: JsonObject } => ({
  path: `${API}/${path}`,
  body: body as unknown as JsonObject,
})

/** Returns the request of the kube config of a virtual cluster with this spec. */
export const kubeConfigRequest = (namespace: string, name: string, spec: JsonObject) =>
  below(kubeConfig(namespace, name, spec))

/** Returns the request of the kube config of a connected cluster, with a token that lives so long. */
export const clusterKubeConfigRequest = (name: string, seconds: number) => below(clusterKubeConfig(name, seconds))

/** Returns the request of a credential, which a plugin other than this program can send as well. */
export async function credentialRequest(
  session: Session,
  target: ClusterTarget,
  seconds: number,
  form: Form = 'token',
): Promise<{ path: string; body: JsonObject }> {
  if (target.kind === 'virtualCluster') {
    const spec = { certificateTTL: seconds, ...(form === 'cert' && { clientCert: true }) }
    return kubeConfigRequest(await projectNamespace(session, target.project), target.name, spec)
  }
  return form === 'account' ? clusterKubeConfigRequest(target.name, seconds) : below(clusterToken(target.name, seconds))
}

/** Returns a new credential for the target. Throws a CliError if there is none in the answer. */
export async function issueCredential(
  session: Session,
  target: ClusterTarget,
  seconds: number,
  { form = 'token', signal }: { form?: Form; signal?: AbortSignal } = {},
): Promise<Issued> {
  const { path, body } = await credentialRequest(session, target, seconds, form)
  const answer = await session.post(path, body, {
    accept: EXEC_CREDENTIAL,
    // A credential that nobody got ends by itself.
    repeatable: true,
    ...(signal && { signal }),
  })
  const credential = credentialIn(answer.kind === 'ExecCredential' ? answer.status : await fromObject(answer))
  const isCertificate = credential !== undefined && 'clientKeyData' in credential
  if (credential === undefined || isCertificate !== (form === 'cert')) {
    throw new CliError(`${session.server} answered without a ${form === 'cert' ? 'certificate' : 'token'}.`)
  }
  return { credential, seconds }
}

/** Returns the credential in a kube config or a token, the objects that the server answers with. */
async function fromObject({ status }: JsonObject): Promise<Partial<Credential>> {
  const { kubeConfig, token, expirationTimestamp } = (status ?? {}) as Record<string, string>
  const expiry = { ...(expirationTimestamp !== undefined && { expirationTimestamp }) }
  if (kubeConfig === undefined) return { ...expiry, ...(token !== undefined && { token }) }
  const { userIn } = await import('./servertext.ts')
  return { ...expiry, ...(await userIn(kubeConfig)) }
}
