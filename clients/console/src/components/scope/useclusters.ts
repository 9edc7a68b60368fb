/** Reads the names of the clusters that the person may see, for the picker to offer. */
import { MINUTE_MS } from '../../../../../lib/engine/meta/value/durations.ts'
import type { Metadata } from '../../../../core/src/objects.ts'
import { prefixOf } from '../../../../core/src/projects.ts'
import { byProject, type KnownClusters } from '../../../../core/src/words/places.ts'
import { listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { type Query, useQuery } from '../../session/usequery.ts'

/** What cannot be read is not offered: the person can type the names. */
export const useClusters = (): Query<KnownClusters> =>
  useQuery(
    'names of clusters',
    async ({ api, self }, signal) => {
      const read = async (path: string): Promise<Metadata[]> => {
        const { items } = await listAll<{ metadata: Metadata }>(api, path, signal).catch(() => ({ items: [] }))
        return items.map(({ metadata }) => metadata)
      }
      const [virtual, connected] = await Promise.all([read(paths.virtualClusters), read(paths.clusters)])
      return { virtualClusters: byProject(virtual, prefixOf(self)), connected: connected.map(({ name }) => name) }
    },
    5 * MINUTE_MS,
  )
