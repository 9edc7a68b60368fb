import { MINUTE_MS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { Cluster, VirtualCluster } from '../../../../core/src/objects.ts'
import { prefixOf, projectIn } from '../../../../core/src/projects.ts'
import { wayInto } from '../../../../core/src/virtualreaches.ts'
import { listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import type { Trust } from '../../api/trusts.ts'
import { NameLink } from '../../components/foreign.tsx'
import { useSession } from '../../session/session.ts'
import { useQuery } from '../../session/usequery.ts'
import { hrefOf } from '../../text/routes.ts'

/** The clusters into which its jobs get. What cannot be read is left out. */
export function Reached({ trust }: { trust: Trust }) {
  const prefix = prefixOf(useSession().self)
  const { data = [] } = useQuery(
    'clusters of both kinds',
    async ({ api }, signal) => {
      const read = (path: string) => listAll<Cluster | VirtualCluster>(api, path, signal).catch(() => ({ items: [] }))
      return (await Promise.all([paths.clusters, paths.virtualClusters].map(read))).flatMap(({ items }) => items)
    },
    5 * MINUTE_MS,
  )
  const reached = data.flatMap((one) => {
    const { name, namespace, uid } = one.metadata
    const why = wayInto(trust, one, prefix)
    if (why === undefined) return []
    if (namespace === undefined) return [{ uid, why, text: name, href: hrefOf('clusters', [name]) }]
    const text = `${projectIn(namespace, prefix) ?? namespace}/${name}`
    return [{ uid, why, text, href: hrefOf('virtual-clusters', [namespace, name]) }]
  })
  if (data.length === 0) return null
  return (
    <div>
      <h3>Clusters that it reaches</h3>
      {reached.length === 0 && <p class="muted">None that you can see.</p>}
      <ul>
        {reached.map(({ uid, why, text, href }) => (
          <li key={uid}>
            <NameLink href={href} text={text} /> <span class="muted">{why}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
