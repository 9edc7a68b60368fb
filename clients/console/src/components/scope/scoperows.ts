/** The rows of the scope picker: what a person chooses, the scope that it is, and what is wrong with it. */
import type { Scope } from '../../../../core/src/objects.ts'
import { holdsValue, LIKE_VALUE } from '../../text/keyvalue.ts'

/** What is wrong with a field of the form. */
export interface Problem {
  /** Such as `name`, or `3.project` for a part of a row of the scope. */
  field: string
  text: string
}

export const KINDS = ['project', 'virtualCluster', 'space', 'cluster', 'role', 'rule'] as const
export type RowKind = (typeof KINDS)[number]

/** A row keeps what was typed for another kind, so that trying one loses nothing. Lists are texts with commas. */
export interface ScopeRow {
  /** Identifies the row while others come and go. */
  id: number
  kind: RowKind
  project: string
  name: string
  role: string
  /** Projects, or virtual clusters as PROJECT/NAME, to which the role is limited. Empty: everywhere. */
  where: string
  verbs: string
  group: string
  resources: string
  names: string
  namespaces: string
}

export const newRow = (id: number): ScopeRow => ({
  id,
  kind: 'project',
  project: '',
  name: '',
  role: 'platformCLI',
  where: '',
  verbs: '',
  group: '',
  resources: '',
  names: '',
  namespaces: '',
})

/** Roles that can be limited to projects and virtual clusters. Of the others nothing would be left, or nothing changes. */
export const LIMITABLE: readonly string[] = ['agent', 'vcluster', 'platformCLI']

export const split = (text: string): string[] =>
  text
    .split(/[,\s]+/)
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** Returns the texts in a member of that name, and no member for none. */
const listed = <T>(name: string, list: readonly T[]) => (list.length === 0 ? {} : { [name]: list })

/** The list of the scope that a row belongs to, and its entry there. */
interface Placed {
  list: keyof Scope
  entry: object
}

function place(row: ScopeRow): Placed {
  const project = row.project.trim()
  const name = row.name.trim()
  switch (row.kind) {
    case 'project':
      return { list: 'projects', entry: { project } }
    case 'virtualCluster':
      return { list: 'virtualClusters', entry: { project, virtualCluster: name } }
    case 'space':
      return { list: 'spaces', entry: { project, space: name } }
    case 'cluster':
      return { list: 'clusters', entry: { cluster: name } }
    case 'role':
      return { list: 'roles', entry: roleEntry(row) }
    case 'rule':
      return { list: 'rules', entry: ruleEntry(row) }
  }
}

function roleEntry({ role, where }: ScopeRow): object {
  const places = LIMITABLE.includes(role) ? split(where) : []
  const isPair = (one: string) => one.includes('/')
  return {
    role,
    ...listed(
      'projects',
      places.filter((one) => !isPair(one)),
    ),
    ...listed('virtualClusters', places.filter(isPair)),
  }
}

function ruleEntry({ verbs, group, resources, names, namespaces }: ScopeRow): object {
  const resource = {
    ...(group.trim() !== '' && { group: group.trim() }),
    ...listed('resources', split(resources)),
    ...listed('resourceNames', split(names)),
  }
  return {
    ...listed('verbs', split(verbs)),
    ...listed('resources', Object.keys(resource).length > 0 ? [resource] : []),
    ...listed('namespaces', split(namespaces)),
  }
}

export function scopeOf(rows: readonly ScopeRow[]): Scope {
  const scope: Record<string, object[]> = {}
  for (const row of rows) {
    const { list, entry } = place(row)
    scope[list] = [...(scope[list] ?? []), entry]
  }
  return scope
}

/** Returns the field of the form for a path below `spec.scope`, such as `spec.scope.projects[0].project`. */
export function rowFieldOf(path: string, rows: readonly ScopeRow[]): string | undefined {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const { list } = place(row)
    const index = counts.get(list) ?? 0
    counts.set(list, index + 1)
    const start = `spec.scope.${list}[${index}]`
    if (path === start || path.startsWith(`${start}.`))
      return `${row.id}.${partOf(row.kind, path.slice(start.length + 1))}`
  }
  return undefined
}

/** Returns the part of a row for the rest of a path. */
function partOf(kind: RowKind, rest: string): string {
  if (kind === 'role') return /^(projects|virtualClusters)/.test(rest) ? 'where' : 'role'
  if (kind !== 'rule') return rest === 'project' ? 'project' : 'name'
  if (rest.includes('resourceNames')) return 'names'
  if (/^resources\[0\]\.group/.test(rest)) return 'group'
  return /^resources/.test(rest) ? 'resources' : /^namespaces/.test(rest) ? 'namespaces' : 'verbs'
}

/** Returns the parts that hold a secret. The server judges everything else. */
export const scopeProblems = (rows: readonly ScopeRow[]): Problem[] =>
  rows.flatMap(({ id, kind: _, ...parts }) =>
    Object.entries(parts).flatMap(([part, text]) =>
      holdsValue(text) ? [{ field: `${id}.${part}`, text: LIKE_VALUE }] : [],
    ),
  )
