/**
 * Makes the credentials of kube configs for clusters and virtual clusters that verify no tokens of this service: tokens of their own
 * service accounts.
 */

import { type FieldError, forbidden, invalid } from '../engine/meta/errors/fielderror.ts'
import { beingDeleted, invalidObject } from '../engine/meta/errors/status.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { KINDS } from '../kinds.ts'
import { type AccountRequest, forbiddenToken, type IssueServices, issueAccountToken } from './boundtokens.ts'
import type { Network } from './cluster/network.ts'
import { clusterCredentials, trustedAuthority } from './clustersecret.ts'
import { authorityOf, type ClusterRequest } from './connectedcluster.ts'
import { instanceEntry } from './deployment.ts'
import { networkOf, requestedAddress, serverAddress, toInstance } from './instance.ts'
import { forbiddenKubeConfig, type Made, type Parent } from './kubeconfig.ts'
import { type AccountTarget, SHORTEST_TOKEN_SECONDS } from './serviceaccounts/target.ts'
import { tokenLifetime } from './token/tokenlifetime.ts'
import { type TtlLimits, tokenTtl } from './ttl.ts'
import type { VirtualClusterRequest } from './virtualcluster.ts'

/** Returns the cluster as the parent of a kube config, whose user is a token of the service account of the user: see `issue`. */
export function accountCluster(
  { cluster: object, spec: wanted, ...asked }: ClusterRequest,
  target: AccountTarget,
  services: IssueServices & { maxSeconds: number },
): Parent {
  const { server, certificateAuthorityData } = (object.spec ?? {}) as Record<string, string>
  // Not limited to the key here, so that the requests of a key share a Secret.
  const lifetime = tokenLifetime('spec.ttl', wanted.ttl, { maxSeconds: services.maxSeconds, key: {}, now: asked.now })
  const parent = { row: KINDS.ClusterKubeConfig, name: target.label }
  const seconds = 'error' in lifetime ? 0 : lifetime.seconds
  return {
    ...parent,
    entry: target.label,
    server: requestedAddress(wanted.server) ?? server ?? '',
    network: networkOf((object.spec ?? {}) as Network, wanted.server),
    errors: lifetimeErrors('spec.ttl', wanted.ttl, lifetime),
    issue: ({ dryRun }) =>
      issue(
        { ...asked, ...parent, target, object, seconds, dryRun },
        () => authorityOf(certificateAuthorityData),
        services,
      ),
  }
}

/**
 * Returns the virtual cluster as such a parent. A client certificate is a field error: nothing could revoke it, and it would be for
 * another user than the token.
 */
export function accountInstance(
  { object, spec: wanted, ...asked }: Omit<VirtualClusterRequest, 'instance'> & { object: KubeObject },
  target: AccountTarget,
  services: IssueServices & { limits: TtlLimits },
): Parent {
  const { limits } = services
  const instance = toInstance(object)
  const lifetime = tokenTtl(wanted.certificateTTL, limits)
  const parent = { row: KINDS.VirtualClusterInstanceKubeConfig, name: instance.name }
  const seconds = 'error' in lifetime ? 0 : (lifetime.seconds ?? limits.maxTokenSeconds)
  const authority = async (dryRun: boolean) => {
    const isStored = instance.certificateAuthorityData === undefined && !dryRun
    const where = { secrets: services.secrets, secretPrefix: services.secretPrefix(target.key) }
    return trustedAuthority(instance, isStored ? await clusterCredentials(instance, where) : undefined)
  }
  const why = 'service accounts of the virtual cluster issue the tokens of its kubeconfigs'
  return {
    ...parent,
    entry: instanceEntry(instance),
    server: serverAddress(instance, wanted.server),
    network: networkOf(instance, wanted.server),
    errors: [
      ...lifetimeErrors('spec.certificateTTL', wanted.certificateTTL, lifetime),
      ...(wanted.clientCert ? [forbidden('spec.clientCert', why)] : []),
    ],
    issue: ({ dryRun }) =>
      issue({ ...asked, ...parent, target, object, seconds, dryRun }, () => authority(dryRun), services),
  }
}

interface Asked extends AccountRequest {
  row: typeof KINDS.ClusterKubeConfig | typeof KINDS.VirtualClusterInstanceKubeConfig
  name: string
  /** The stored object. */
  object: KubeObject
  dryRun: boolean
}

/**
 * Makes the token. Throws 403 for scopes that restrict inside the cluster, 422 without an account, and 401 if the key has ended meanwhile.
 * `authority` returns what clients trust.
 */
async function issue(
  { row, name, object, dryRun, ...request }: Asked,
  authority: () => Promise<string | undefined> | string | undefined,
  services: IssueServices,
): Promise<Made> {
  const { group, kind, plural } = row
  const { target } = request
  if (object.metadata.deletionTimestamp !== undefined) throw beingDeleted({ group, resource: plural }, name)
  const why = forbiddenToken(request, services)
  if (why !== undefined) throw forbiddenKubeConfig({ row, name }, why)
  // Before anything is made: an invalid authority would still be invalid afterwards.
  const trusted = await authority()
  if (dryRun) return { user: undefined, warnings: [], facts: { credential: 'token' } }
  const made = await issueAccountToken(request, services)
  if ('missingAccount' in made) throw invalidObject(group, kind, name, [missing(made.missingAccount, name, target)])
  const { token, expires, warnings, account, secret } = made
  const facts = { credential: 'token', account, secret } as const
  return { user: { token }, authority: trusted, expires, warnings, facts }
}

function lifetimeErrors(
  field: string,
  wanted: number | bigint | undefined,
  lifetime: { error: FieldError } | { seconds?: number },
) {
  if (wanted !== undefined && wanted !== 0 && wanted < SHORTEST_TOKEN_SECONDS) {
    const why = `may not specify a duration less than ${SHORTEST_TOKEN_SECONDS} seconds (10 minutes)`
    return [invalid(field, wanted, why)]
  }
  return 'error' in lifetime ? [lifetime.error] : []
}

/** Says how an administrator of the cluster makes the account, and gives it rights. */
function missing(account: string, name: string, { namespace }: AccountTarget): FieldError {
  const create = `kubectl create serviceaccount ${account} -n ${namespace}`
  const bind = `kubectl create rolebinding ${account} --clusterrole=view --serviceaccount=${namespace}:${account} -n NAMESPACE`
  return invalid(
    'metadata.name',
    name,
    `the cluster has no service account "${account}" in namespace "${namespace}". An administrator of the cluster creates it: ${create}; and gives it rights, for example: ${bind}`,
  )
}
