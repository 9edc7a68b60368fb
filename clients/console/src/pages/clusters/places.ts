/** Finds the clusters that a scope names, for keys that may not list all. Wildcards name none. */
import type { Scope } from '../../../../core/src/objects.ts'

export interface Places {
  namespaces: string[]
  /** Virtual clusters as NAMESPACE/NAME, and connected clusters as NAME. */
  single: string[]
}

const isName = (text: string | undefined): text is string => text !== undefined && text !== '' && text !== '*'

/** Returns the namespaces and virtual clusters that a scope names, and the namespace of the project `further`. */
export function placesOf(scope: Scope | undefined, prefix: string, further = ''): Places {
  const { roles = [], projects = [], virtualClusters = [], rules = [] } = scope ?? {}
  const named = [...projects.map(({ project }) => project), ...roles.flatMap((role) => role.projects ?? [])]
  const ruled = (rules as { namespaces?: string[] }[]).flatMap((rule) => rule.namespaces ?? [])
  const inPrefix = (names: readonly (string | undefined)[]) => names.filter(isName).map((name) => prefix + name)
  const namespaces = new Set([...inPrefix(named), ...ruled.filter(isName), ...inPrefix([further])])
  const pairs = [
    ...virtualClusters.map(({ project, virtualCluster }) => [project, virtualCluster]),
    ...roles.flatMap((role) => role.virtualClusters ?? []).map((text) => text.split('/')),
  ]
  const single = pairs.flatMap(([project, name]) =>
    isName(project) && isName(name) && !namespaces.has(prefix + project) ? [`${prefix}${project}/${name}`] : [],
  )
  return { namespaces: [...namespaces], single: [...new Set(single)] }
}

/** Returns the connected clusters that a scope names, and `further`. */
export const clusterPlacesOf = (scope: Scope | undefined, _prefix: string, further: string): Places => ({
  namespaces: [],
  single: [...new Set([...(scope?.clusters ?? []).map(({ cluster }) => cluster), further].filter(isName))],
})
