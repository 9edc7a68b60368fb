/** Reads the clusters that the person may see. A key with a scope may not list all, so those that its scope names are asked for. */
import type { Cluster, Self, VirtualCluster } from '../../../../core/src/objects.ts'
import { prefixOf } from '../../../../core/src/projects.ts'
import type { Api } from '../../api/client.ts'
import { type Listed, listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'
import type { ClusterKind } from './kinds.ts'
import type { Places } from './places.ts'
import type { Shown } from './words.ts'

export interface Clusters {
  items: Shown[]
  /** Whether there are more than are shown. */
  more: boolean
  /** What was asked if the key may not list all. */
  only?: Places
  /** What was refused of that. */
  refused: { place: string; message: string }[]
}

/** Returns all clusters of a kind, or those of the places that the scope names and of one more. */
export async function readClusters(
  kind: ClusterKind,
  api: Api,
  self: Self,
  further: string,
  signal: AbortSignal,
): Promise<Clusters> {
  const prefix = prefixOf(self)
  type Found = Listed<VirtualCluster & Cluster>
  const shown = ({ items }: Pick<Found, 'items'>) => items.map((one) => kind.shown(one, prefix))
  try {
    const all: Found = await listAll(api, kind.path, signal)
    return { items: shown(all), more: all.more, refused: [] }
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 403)) throw error
  }
  const only = kind.placesOf(self.accessKeyScope, prefix, further)
  const refused: Clusters['refused'] = []
  const asked = async (place: string, read: () => Promise<Found>): Promise<Found> => {
    try {
      return await read()
    } catch (error) {
      // What a person has typed may be no name at all, which is a 400.
      if (!(error instanceof ApiError && [400, 403, 404].includes(error.code))) throw error
      refused.push({ place, message: error.message })
      return { items: [], more: false }
    }
  }
  const lists = await Promise.all([
    ...only.namespaces.map((one) => asked(one, () => listAll(api, paths.virtualClustersIn(one), signal))),
    ...only.single.map((place) =>
      asked(place, async () => ({ items: [await api.send(kind.pathOf(place), { signal })], more: false })),
    ),
  ])
  return { items: lists.flatMap(shown), more: lists.some(({ more }) => more), only, refused }
}
