/** Reads the virtual clusters that the person may see. A key with a scope may not list all, so the projects of its scope are asked. */
import type { Scope, Self, VirtualCluster } from '../../../../core/src/objects.ts'
import { prefixOf } from '../../../../core/src/projects.ts'
import type { Api } from '../../api/client.ts'
import { listAll } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'

export interface Clusters {
  items: VirtualCluster[]
  /** Whether there are more than are shown. */
  more: boolean
  /** What was asked if the key may not list all: namespaces, and single ones as NAMESPACE/NAME. */
  only?: Places
  /** What was refused of that. */
  refused: { place: string; message: string }[]
}

export interface Places {
  namespaces: string[]
  single: string[]
}

/** Returns the places that a scope names, and the namespace `further`. Wildcards name none. */
export function placesOf(scope: Scope | undefined, prefix: string, further?: string): Places {
  const { roles = [], projects = [], virtualClusters = [], rules = [] } = scope ?? {}
  const isName = (text: string | undefined): text is string => text !== undefined && text !== '' && text !== '*'
  const named = [...projects.map(({ project }) => project), ...roles.flatMap((role) => role.projects ?? [])]
  const ruled = (rules as { namespaces?: string[] }[]).flatMap((rule) => rule.namespaces ?? [])
  const all = [...named.filter(isName).map((name) => prefix + name), ...[...ruled, further].filter(isName)]
  const namespaces = new Set(all)
  const pairs = [
    ...virtualClusters.map(({ project, virtualCluster }) => [project, virtualCluster]),
    ...roles.flatMap((role) => role.virtualClusters ?? []).map((text) => text.split('/')),
  ]
  const single = pairs.flatMap(([project, name]) =>
    isName(project) && isName(name) && !namespaces.has(prefix + project) ? [`${prefix}${project}/${name}`] : [],
  )
  return { namespaces: [...namespaces], single: [...new Set(single)] }
}

/** Returns all virtual clusters, or those of the places that the scope names and of one more namespace. */
export async function readClusters(
  api: Api,
  self: Self,
  further: string | undefined,
  signal: AbortSignal,
): Promise<Clusters> {
  try {
    return { ...(await listAll<VirtualCluster>(api, paths.virtualClusters, signal)), refused: [] }
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 403)) throw error
  }
  const only = placesOf(self.accessKeyScope, prefixOf(self), further)
  const refused: Clusters['refused'] = []
  const asked = async (place: string, read: () => Promise<{ items: VirtualCluster[]; more: boolean }>) => {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof ApiError && (error.code === 403 || error.code === 404))) throw error
      refused.push({ place, message: error.message })
      return { items: [], more: false }
    }
  }
  const lists = await Promise.all([
    ...only.namespaces.map((one) =>
      asked(one, () => listAll<VirtualCluster>(api, paths.virtualClustersIn(one), signal)),
    ),
    ...only.single.map((place) =>
      asked(place, async () => {
        const [namespace = '', name = ''] = place.split('/')
        return {
          items: [await api.send<VirtualCluster>(paths.virtualCluster(namespace, name), { signal })],
          more: false,
        }
      }),
    ),
  ])
  return { items: lists.flatMap(({ items }) => items), more: lists.some(({ more }) => more), only, refused }
}
