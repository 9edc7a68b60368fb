/** Makes the credentials of kube configs for virtual clusters: tokens, client certificates, and plugins of the client. */

import { restrictsInside } from '../access/restriction.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import type { UserInfo } from '../access/users/user.ts'
import { checkDeadline, type Deadline } from '../engine/meta/errors/deadline.ts'
import { type FieldError, forbidden } from '../engine/meta/errors/fielderror.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { KINDS } from '../kinds.ts'
import {
  type CertificateServices,
  type ClientCertificate,
  issueClientCertificate,
} from './certificates/clientcertificate.ts'
import { type ClusterClient, withDeadline } from './cluster/client.ts'
import type { Credentials } from './cluster/credentials.ts'
import { isFailure } from './cluster/failure.ts'
import { clusterCredentials, type SecretServices, trustedAuthority } from './clustersecret.ts'
import type { CredentialPlugin } from './configtext.ts'
import { instanceEntry } from './deployment.ts'
import { type Instance, labelOf, networkOf, serverAddress } from './instance.ts'
import { forbiddenKubeConfig, type Made, type Parent } from './kubeconfig.ts'
import { lifetimeWarnings, outlivingCertificate, outlivingRequest } from './outliving.ts'
import { issueToken, prepareVirtualClusterToken } from './token/issuer.ts'
import type { Signer } from './token/signer.ts'
import { visibleGroups } from './token/visibleuser.ts'
import { certificateTtl, type TtlLimits, tokenTtl } from './ttl.ts'

export interface VirtualClusterRequest {
  instance: Instance
  /** Specification 2.5. With `exec`, the kube config contains the plugin and no credential is issued. */
  spec: { certificateTTL?: number | bigint; server?: string; clientCert?: boolean; exec?: CredentialPlugin }
  user: UserInfo
  now: Date
  /** After the deadline, nothing is signed and nothing is created in the virtual cluster. */
  deadline: Deadline
}

/** A dry run validates the request without reading a secret, contacting the virtual cluster or signing anything. */
type Issuing = VirtualClusterRequest & { dryRun: boolean }

export interface VirtualClusterServices
  extends SecretServices,
    ScopeOptions,
    Pick<CertificateServices, 'deadline' | 'sleep' | 'uuid'> {
  limits: TtlLimits
  issuer: string
  signer: Signer
  /** See createClusterClient. */
  connect(name: string, credentials: Credentials, options?: { keepsConnections: boolean }): ClusterClient
  clock(): Date
}

/** How long to wait for a virtual cluster to sign. */
const WAIT_MS = 15_000
/** Time of the request that is reserved for cleaning up. */
const RESERVE_MS = 5_000

const asParent = ({ name }: Instance) => ({ row: KINDS.VirtualClusterInstanceKubeConfig, name })

/**
 * Returns the virtual cluster as the parent of a kube config, whose user is a token for this virtual cluster only, with `clientCert` a
 * certificate that the virtual cluster signs, or with `exec` a plugin of the client. Throws 400 without an address. The credential is a
 * 401 for an invalid key, and a 403 for a certificate that would grant more than the scopes allow or outlive an exchanged key. It
 * also throws ClusterErrors (502, 503, 504).
 */
export function virtualCluster(request: VirtualClusterRequest, services: VirtualClusterServices): Parent {
  const { instance, spec } = request
  const ttl = (spec.clientCert ? certificateTtl : tokenTtl)(spec.certificateTTL, services.limits)
  return {
    ...asParent(instance),
    entry: instanceEntry(instance),
    server: serverAddress(instance, spec.server),
    network: networkOf(instance, spec.server),
    errors: [...('error' in ttl ? [ttl.error] : []), ...besidePlugin(spec)],
    async issue({ dryRun }) {
      const made = await makeUser({ ...request, dryRun }, 'error' in ttl ? undefined : ttl.seconds, services)
      // Instances of an earlier release may have an authority that the request would refuse.
      if (dryRun) trustedAuthority(instance, undefined)
      return made
    },
  }
}

/** Returns errors for the fields that describe a credential, which a kube config with a plugin does not contain. */
function besidePlugin({ clientCert, certificateTTL, exec }: VirtualClusterRequest['spec']): FieldError[] {
  if (!exec) return []
  const why = 'may not be set when spec.exec is set'
  return [
    ...(certificateTTL === undefined ? [] : [forbidden('spec.certificateTTL', why)]),
    ...(clientCert ? [forbidden('spec.clientCert', why)] : []),
  ]
}

function makeUser(request: Issuing, seconds: number | undefined, services: VirtualClusterServices): Promise<Made> {
  const { exec, clientCert } = request.spec
  if (exec) return withPlugin(request, exec, services)
  if (clientCert) return withCertificate(request, seconds, services)
  return withToken(request, seconds ?? services.limits.maxTokenSeconds, services)
}

async function withPlugin(
  { instance, dryRun }: Issuing,
  exec: CredentialPlugin,
  services: VirtualClusterServices,
): Promise<Made> {
  const facts = { credential: 'none' } as const
  if (dryRun) return { user: undefined, warnings: [], facts }
  const authority = trustedAuthority(instance, await optionalCredentials(instance, services))
  return { user: { exec }, authority, expires: undefined, warnings: [], facts }
}

async function withToken(
  { instance, spec, user, now, dryRun, deadline }: Issuing,
  seconds: number,
  services: VirtualClusterServices,
): Promise<Made> {
  const prepared = prepareVirtualClusterToken({ user, cluster: instance, seconds, now }, services)
  const longest = `spec.certificateTTL: 0 asks for the longest validity that the deployment allows, ${seconds} seconds`
  const warnings = [...(spec.certificateTTL === 0 ? [longest] : []), ...prepared.warnings]
  if (dryRun) return { user: undefined, warnings, facts: { credential: 'token' } }
  const authority = trustedAuthority(instance, await optionalCredentials(instance, services))
  checkDeadline(deadline)
  const { token, expires } = await issueToken(prepared, services.signer)
  const { jti, aud: audiences } = prepared.claims
  return { user: { token }, authority, expires, warnings, facts: { credential: 'token', jti, audiences } }
}

/**
 * Returns the stored credentials, of which a token needs only the certificate authority. Returns undefined for an
 * instance that specifies an authority or has no credentials.
 */
async function optionalCredentials(
  instance: Instance,
  services: VirtualClusterServices,
): Promise<Credentials | undefined> {
  if (instance.certificateAuthorityData !== undefined) return undefined
  return clusterCredentials(instance, services).catch((error) => {
    if (isFailure(error, 'no-credentials')) return undefined
    throw error
  })
}

async function withCertificate(
  request: Issuing,
  seconds: number | undefined,
  services: VirtualClusterServices,
): Promise<Made> {
  const { instance, user, now, dryRun, deadline } = request
  if (restrictsInside(user.chain, { type: 'virtualCluster', ...instance }, services)) {
    const why = 'a client certificate cannot be scoped, and the scope of the access key restricts what it may do there'
    throw forbiddenKubeConfig(asParent(instance), why)
  }
  const outliving = outlivingRequest(user, seconds, now)
  if (outliving !== undefined) throw forbiddenKubeConfig(asParent(instance), outliving)
  if (dryRun) return { user: undefined, warnings: [], facts: { credential: 'certificate' } }
  const signal = services.deadline(Math.max(0, Math.floor(Math.min(WAIT_MS, deadline() - RESERVE_MS))))
  const credentials = await clusterCredentials(instance, services)
  // Checked before anything is created: an invalid authority would still be invalid afterwards.
  const authority = trustedAuthority(instance, credentials)
  const issued = await order(request, seconds, credentials, signal, services).catch(async (error) => {
    // After the deadline, another attempt would only add to the delay.
    if (!isFailure(error, 'unauthorized') || signal.aborted) throw error
    const rotated = await clusterCredentials(instance, services, true)
    if (JSON.stringify(rotated) === JSON.stringify(credentials)) throw error
    return order(request, seconds, rotated, signal, services)
  })
  const outlived = outlivingCertificate(user, issued.notAfter)
  if (outlived !== undefined) throw forbiddenKubeConfig(asParent(instance), outlived)
  const warnings = [...issued.warnings, ...lifetimeWarnings(user, { now, seconds, notAfter: issued.notAfter })]
  const facts = { credential: 'certificate', serial: issued.serial } as const
  return { user: issued, authority, expires: issued.notAfter, warnings, facts }
}

function order(
  { instance, user, deadline }: VirtualClusterRequest,
  seconds: number | undefined,
  credentials: Credentials,
  signal: AbortSignal,
  services: VirtualClusterServices,
): Promise<ClientCertificate> {
  const { maxCertificateSeconds } = services.limits
  const client = withDeadline(services.connect(labelOf(instance), credentials), deadline)
  return issueClientCertificate(
    {
      user: user.name,
      groups: visibleGroups(user.groups),
      ...defined({ seconds, maxSeconds: maxCertificateSeconds }),
      labels: { 'app.kubernetes.io/managed-by': 'keyplane', 'management.platform/access-key-uid': user.key.uid },
    },
    { ...services, client, signal, now: services.clock },
  )
}
