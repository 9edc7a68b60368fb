/** Reads the virtual clusters that the person may see, for the picker to offer. */
import { useEffect, useState } from 'preact/hooks'
import type { Metadata } from '../../../../core/src/objects.ts'
import { prefixOf } from '../../../../core/src/projects.ts'
import { byProject, type NamesByProject } from '../../../../core/src/words/places.ts'
import { listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { useSession } from '../../session/session.ts'

/** Returns what has been read so far. Failures are ignored: the person can type the names. */
export function useVirtualClusters(): NamesByProject {
  const { api, self } = useSession()
  const [virtualClusters, setVirtualClusters] = useState<NamesByProject>(new Map())
  useEffect(() => {
    const ended = new AbortController()
    listAll<{ metadata: Metadata }>(api, paths.virtualClusters, ended.signal).then(
      ({ items }) =>
        setVirtualClusters(
          byProject(
            items.map(({ metadata }) => metadata),
            prefixOf(self),
          ),
        ),
      () => {},
    )
    return () => ended.abort()
  }, [api, self])
  return virtualClusters
}
