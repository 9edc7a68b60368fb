/** Reads what the steps need besides the keys: few objects of each list, because the first that counts is enough. */
import type { List, Metadata, Self } from '../../../../core/src/objects.ts'
import type { Api } from '../../api/client.ts'
import { paths } from '../../api/paths.ts'
import { isDemo } from '../../api/servermade.ts'
import { isAdministrator } from './remembered.ts'

/** A fact that could not be read is absent. */
export interface Facts {
  /** Whether the person may use an identity provider. */
  hasProvider?: boolean
  hasTrust?: boolean
  hasVirtualCluster?: boolean
}

export async function readFacts(api: Api, self: Self, isLocal: boolean, signal: AbortSignal): Promise<Facts> {
  const list = async (path: string) => {
    try {
      return (await api.send<List<{ metadata: Metadata }>>(`${path}?limit=2`, { signal })).items
    } catch {
      return undefined
    }
  }
  const isReal = ({ metadata }: { metadata: Metadata }) => !isLocal || !isDemo(metadata)
  const isAdmin = isAdministrator(self)
  const [providers, trusts, clusters] = await Promise.all([
    isAdmin ? undefined : list(paths.providers),
    list(paths.trusts),
    isAdmin ? list(paths.virtualClusters) : undefined,
  ])
  return {
    ...(providers && { hasProvider: providers.length > 0 }),
    ...(trusts && { hasTrust: trusts.some(isReal) }),
    ...(clusters && { hasVirtualCluster: clusters.some(isReal) }),
  }
}
