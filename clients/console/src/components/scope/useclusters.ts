/** Reads the names of the clusters that the person may see, for the picker to offer. */
import { useEffect, useState } from 'preact/hooks'
import type { Metadata } from '../../../../core/src/objects.ts'
import { prefixOf } from '../../../../core/src/projects.ts'
import { byProject, type NamesByProject } from '../../../../core/src/words/places.ts'
import { listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { useSession } from '../../session/session.ts'

export interface KnownClusters {
  virtualClusters: NamesByProject
  connected: readonly string[]
}

/** Returns what has been read so far. Failures are ignored: the person can type the names. */
export function useClusters(): KnownClusters {
  const { api, self } = useSession()
  const [known, setKnown] = useState<KnownClusters>({ virtualClusters: new Map(), connected: [] })
  useEffect(() => {
    const ended = new AbortController()
    const read = (path: string, found: (names: Metadata[]) => Partial<KnownClusters>) =>
      listAll<{ metadata: Metadata }>(api, path, ended.signal).then(
        ({ items }) => setKnown((before) => ({ ...before, ...found(items.map(({ metadata }) => metadata)) })),
        () => {},
      )
    void read(paths.virtualClusters, (names) => ({ virtualClusters: byProject(names, prefixOf(self)) }))
    void read(paths.clusters, (names) => ({ connected: names.map(({ name }) => name) }))
    return () => ended.abort()
  }, [api, self])
  return known
}
