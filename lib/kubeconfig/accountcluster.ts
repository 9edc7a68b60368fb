/** Makes the credentials of kube configs for clusters that verify no tokens of this service: tokens of their own service accounts. */
import { KINDS } from '../kinds/kinds.ts'
import { type FieldError, invalid } from '../meta/errors/fielderror.ts'
import { beingDeleted, invalidObject } from '../meta/errors/status.ts'
import { forbiddenToken, type IssueServices, issueAccountToken, SHORTEST_TOKEN_SECONDS } from './boundtokens.ts'
import { authorityOf, type ClusterRequest } from './connectedcluster.ts'
import { requestedAddress } from './instance.ts'
import { forbiddenKubeConfig, type Parent } from './kubeconfig.ts'
import type { AccountTarget } from './serviceaccounts/target.ts'
import { tokenLifetime } from './token/tokenlifetime.ts'

const { group, kind, plural } = KINDS.ClusterKubeConfig

/**
 * Returns the cluster as the parent of a kube config, whose user is a token of the service account of the user. The credential is a 403
 * for scopes that restrict inside the cluster, a 422 without an account, and a 401 if the key has ended meanwhile.
 */
export function accountCluster(
  { cluster, spec: wanted, user, now, dryRun, deadline }: ClusterRequest,
  target: AccountTarget,
  services: IssueServices & { maxSeconds: number },
): Parent {
  const { server, certificateAuthorityData } = (cluster.spec ?? {}) as Record<string, string>
  // Not limited to the key here, so that the requests of a key share a Secret.
  const lifetime = tokenLifetime('spec.ttl', wanted.ttl, { maxSeconds: services.maxSeconds, key: {}, now })
  const parent = { row: KINDS.ClusterKubeConfig, name: target.label }
  return {
    ...parent,
    entry: target.label,
    server: requestedAddress(wanted.server) ?? server ?? '',
    errors: 'error' in lifetime ? [lifetime.error] : tooShort(wanted.ttl),
    async issue() {
      if (cluster.metadata.deletionTimestamp !== undefined)
        throw beingDeleted({ group, resource: plural }, target.label)
      const { seconds } = lifetime as Exclude<typeof lifetime, { error: unknown }>
      const why = forbiddenToken({ target, user, seconds, now }, services)
      if (why !== undefined) throw forbiddenKubeConfig(parent, why)
      if (dryRun) return { user: undefined, warnings: [], facts: { credential: 'token' } }
      const made = await issueAccountToken({ target, user, seconds, now, deadline }, services)
      if ('missingAccount' in made)
        throw invalidObject(group, kind, target.label, [missing(made.missingAccount, target)])
      const { token, expires, warnings, account, secret } = made
      const facts = { credential: 'token', account, secret } as const
      return { user: { token }, authority: authorityOf(certificateAuthorityData), expires, warnings, facts }
    },
  }
}

function tooShort(ttl: number | bigint | undefined): FieldError[] {
  if (ttl === undefined || ttl === 0 || ttl >= SHORTEST_TOKEN_SECONDS) return []
  return [
    invalid('spec.ttl', ttl, `may not specify a duration less than ${SHORTEST_TOKEN_SECONDS} seconds (10 minutes)`),
  ]
}

/** Says how an administrator of the cluster makes the account, and gives it rights. */
function missing(account: string, { label, namespace }: AccountTarget): FieldError {
  const create = `kubectl create serviceaccount ${account} -n ${namespace}`
  const bind = `kubectl create rolebinding ${account} --clusterrole=view --serviceaccount=${namespace}:${account} -n NAMESPACE`
  return invalid(
    'metadata.name',
    label,
    `the cluster has no service account "${account}" in namespace "${namespace}". An administrator of the cluster creates it: ${create}; and gives it rights, for example: ${bind}`,
  )
}
