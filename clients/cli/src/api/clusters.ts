/** Reads the objects of connected clusters. */
import { networkMembers } from '../../../../lib/clusters/cluster/network.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import type { Cluster } from '../../../core/src/objects.ts'
import { CliError, UsageError } from '../io/errors.ts'
import { demandName } from './keys.ts'
import { addressIn } from './servertext.ts'
import { API, type Session } from './session.ts'
import { StatusError } from './status.ts'

const CLUSTERS = `${API}/clusters`

/** Returns the path of the clusters, or of one. Throws a UsageError for a text that cannot be a name. */
export function clusterPath(name?: string): string {
  if (name === undefined) return CLUSTERS
  demandName(name, 'a cluster')
  return `${CLUSTERS}/${encodeURIComponent(name)}`
}

/** Throws a UsageError for a name that no Cluster can have: audiences and kube configs contain it. */
export function demandClusterName(name: string): void {
  if (name.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) return
  throw new UsageError(
    `"${name}" cannot be the name of a cluster.`,
    'A name has at most 63 lowercase letters, digits and -, and begins and ends with a letter or digit.',
  )
}

/** Returns what a response says of a cluster. The server answers only with valid objects. */
export const asCluster = (object: JsonValue): Cluster => object as unknown as Cluster

/** Returns how clients reach the cluster, as kube configs have it. Throws a CliError for an address that no kube config may have. */
export const addressOf = ({ spec = {} }: Cluster): JsonObject =>
  addressIn({
    ...(spec.server !== undefined && { server: spec.server }),
    ...(spec.certificateAuthorityData && {
      'certificate-authority-data': spec.certificateAuthorityData.replace(/[\r\n]/g, ''),
    }),
    ...networkMembers(spec),
  })

/** Returns the cluster. Throws a CliError unless the key may create kube configs of it. */
export async function usableCluster(session: Session, name: string): Promise<Cluster> {
  const cluster = asCluster(await session.get(clusterPath(name)).catch((error: unknown) => withoutObject(error, name)))
  if (cluster.status?.canUse === false)
    throw new CliError(`You may see the cluster ${name}, but create no kube config of it.`, {
      exitCode: 4,
      hint: 'Its spec.access must let you use it, and the scope of your key must allow the cluster.',
    })
  return cluster
}

/** Explains that there is no object: a name in a scope needs none, but an address does. */
export function withoutObject(error: unknown, name: string): never {
  if (!(error instanceof StatusError) || error.code !== 404) throw error
  throw new CliError(error.message, {
    exitCode: error.exitCode,
    hint: `keyplane does not know the address of ${name}, or you may not see it. Give the address with --server. A virtual cluster is PROJECT/NAME.`,
    cause: error,
  })
}
