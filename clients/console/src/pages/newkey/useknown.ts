/** Reads what the form offers and says: the virtual clusters that the person may see, and the limits of the signed-in key. */
import { useEffect, useState } from 'preact/hooks'
import { listAll } from '../../api/lists.ts'
import type { AccessKey, Metadata } from '../../api/objects.ts'
import { paths } from '../../api/paths.ts'
import { prefixOf } from '../../api/projects.ts'
import { useSession } from '../../session/session.ts'
import { byProject, type NamesByProject } from './byproject.ts'

export interface Known {
  virtualClusters: NamesByProject
  /** The addresses to which the signed-in key is limited. */
  ownSources?: readonly string[] | undefined
}

/** Returns what has been read so far. Failures are ignored: the person can type the names. */
export function useKnown(): Known {
  const { api, self } = useSession()
  const [virtualClusters, setVirtualClusters] = useState<NamesByProject>(new Map())
  const [ownSources, setOwnSources] = useState<readonly string[]>()
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    const ignore = () => {}
    listAll<{ metadata: Metadata }>(api, paths.virtualClusters, signal).then(
      ({ items }) => setVirtualClusters(byProject(items, prefixOf(self))),
      ignore,
    )
    api
      .send<AccessKey>(paths.key(self.accessKey), { signal })
      .then(({ spec }) => setOwnSources(spec.sourceCIDRs), ignore)
    return () => ended.abort()
  }, [api, self])
  return { virtualClusters, ownSources }
}
