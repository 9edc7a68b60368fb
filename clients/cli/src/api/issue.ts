/** Asks the server for a credential of a cluster. */
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { type Credential, credentialIn } from '../credentials/credential.ts'
import type { Issued } from '../credentials/flight.ts'
import { CliError } from '../io/errors.ts'
import { projectNamespace } from './projects.ts'
import { API, type Session } from './session.ts'
import type { Target } from './target.ts'

/** `cert`: a client certificate with its key. Only virtual clusters sign any. */
export type Form = 'token' | 'cert'

type ClusterTarget = Exclude<Target, { kind: 'management' }>

/** A server that does not know this form answers with the object itself. */
const ACCEPT = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1,application/json'

/** Returns the path of the request for the kube config of a virtual cluster. */
export const kubeConfigPath = (namespace: string, name: string): string =>
  `${API}/namespaces/${encodeURIComponent(namespace)}/virtualclusterinstances/${encodeURIComponent(name)}/kubeconfig`

/** Returns the request of a kube config with this spec. */
export const kubeConfigRequest = (spec: JsonObject): JsonObject => ({
  apiVersion: 'management.platform/v1',
  kind: 'VirtualClusterInstanceKubeConfig',
  spec,
})

/** Returns the request of a credential, which a plugin other than this program can send as well. */
export async function credentialRequest(
  session: Session,
  target: ClusterTarget,
  seconds: number,
  form: Form = 'token',
): Promise<{ path: string; body: JsonObject }> {
  if (target.kind === 'virtualCluster') {
    const spec = { certificateTTL: seconds, ...(form === 'cert' && { clientCert: true }) }
    const namespace = await projectNamespace(session, target.project)
    return { path: kubeConfigPath(namespace, target.name), body: kubeConfigRequest(spec) }
  }
  const body = {
    apiVersion: 'management.platform/v1',
    kind: 'DirectClusterEndpointToken',
    spec: { ttl: seconds, scope: { clusters: [{ cluster: target.name }] } },
  }
  return { path: `${API}/directclusterendpointtokens`, body }
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
    accept: ACCEPT,
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
