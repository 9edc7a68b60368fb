/** Makes the credentials of kube configs for connected clusters: the tokens that DirectClusterEndpointTokens for one cluster have. */

import { withScope } from '../access/scopes/chain.ts'
import { reachesCluster } from '../access/scopes/reachableclusters.ts'
import type { UserInfo } from '../access/users/user.ts'
import { checkDeadline, type Deadline } from '../engine/meta/errors/deadline.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { KINDS } from '../kinds.ts'
import { fromBase64, parseCertificates, toPem } from './cluster/pem.ts'
import type { Spec } from './cluster.schema.ts'
import { networkOf, requestedAddress } from './instance.ts'
import { forbiddenKubeConfig, type Parent } from './kubeconfig.ts'
import { type IssuerSettings, issueToken, prepareClusterToken, signatureWarnings } from './token/issuer.ts'
import type { Signer } from './token/signer.ts'

export interface ClusterRequest {
  /** The stored object. */
  cluster: KubeObject
  spec: { ttl?: number | bigint; server?: string }
  user: UserInfo
  now: Date
  /** After the deadline, nothing is signed. */
  deadline: Deadline
}

/**
 * Returns the connected cluster as the parent of a kube config, whose user is a token for this cluster only. Throws 401 for an invalid
 * key and 403 for a `system:` user. The credential is a 403 for a chain of scopes that allows nothing in the cluster.
 */
export function connectedCluster(
  { cluster, spec: wanted, user, now, deadline }: ClusterRequest,
  { settings, signer }: { settings: IssuerSettings; signer: Signer },
): Parent {
  const { metadata, spec = {} } = cluster
  const { name = '' } = metadata
  const { server, certificateAuthorityData: data } = spec as Spec
  const scope = { clusters: [{ cluster: name }] }
  const prepared = prepareClusterToken({ user, scope, now, ...defined({ ttl: wanted.ttl }) }, settings)
  const errors = 'errors' in prepared ? prepared.errors : []
  const parent = { row: KINDS.ClusterKubeConfig, name }
  return {
    ...parent,
    entry: name,
    server: requestedAddress(wanted.server) ?? server,
    network: networkOf(spec as Spec, wanted.server),
    errors: errors.filter(({ field }) => field === 'spec.ttl'),
    async issue({ dryRun }) {
      if ('errors' in prepared) {
        const why = reachesCluster(withScope(user.chain, scope), name)
          ? `no token has these scopes: ${errors.map(({ message }) => message).join('; ')}`
          : 'the scope of the access key allows nothing in this cluster'
        throw forbiddenKubeConfig(parent, why)
      }
      const { claims } = prepared
      const warnings = [...prepared.warnings, ...(await signatureWarnings(signer))]
      if (dryRun) return { user: undefined, warnings, facts: { credential: 'token' } }
      checkDeadline(deadline)
      const { token, expires } = await issueToken(prepared, signer)
      const facts = { credential: 'token', jti: claims.jti, audiences: claims.aud } as const
      return { user: { token }, authority: authorityOf(data), expires, warnings, facts }
    },
  }
}

/** Returns the authorities of a cluster in PEM. Undefined: public ones. */
export function authorityOf(data: string | undefined): string | undefined {
  const authorities = parseCertificates(fromBase64(data ?? '') ?? '')
  return authorities && toPem(authorities)
}
