/** Reads a scope into the rows of the scope picker. */
import type { Scope } from '../../../../core/src/objects.ts'
import { isSame } from '../../text/same.ts'
import { newRow, type ScopeRow, scopeOf } from './scoperows.ts'

const text = (list: readonly string[] = []): string => list.join(', ')

/** Returns the rows of a scope, or undefined if rows cannot say all of it: then they would allow more or less. */
export function rowsOfScope(scope: Scope): ScopeRow[] | undefined {
  const { projects = [], virtualClusters = [], spaces = [], clusters = [], roles = [], rules = [] } = scope
  // A rule is about any of its resources, so a rule for each of them says the same.
  const split = rules.flatMap((rule) =>
    rule.resources?.length ? rule.resources.map((one) => ({ ...rule, resources: [one] })) : [rule],
  )
  const parts: Partial<ScopeRow>[] = [
    ...projects.map(({ project = '' }) => ({ kind: 'project' as const, project })),
    ...virtualClusters.map(({ project = '', virtualCluster: name = '' }) => {
      return { kind: 'virtualCluster' as const, project, name }
    }),
    ...spaces.map(({ project = '', space: name = '' }) => ({ kind: 'space' as const, project, name })),
    ...clusters.map(({ cluster: name = '' }) => ({ kind: 'cluster' as const, name })),
    ...roles.map(({ role = '', projects = [], virtualClusters = [] }) => {
      return { kind: 'role' as const, role, where: text([...projects, ...virtualClusters]) }
    }),
    ...split.map(({ verbs, resources: [one] = [], namespaces }) => ({
      kind: 'rule' as const,
      verbs: text(verbs),
      group: one?.group ?? '',
      resources: text(one?.resources),
      names: text(one?.resourceNames),
      namespaces: text(namespaces),
    })),
  ]
  const rows = parts.map((part, index) => ({ ...newRow(index + 1), ...part }))
  return isSame(scopeOf(rows), { ...scope, ...(rules.length > 0 && { rules: split }) }) ? rows : undefined
}
