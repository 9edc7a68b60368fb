/** The rows of the scope picker: what a person chooses, the scope that it is, in both directions, and what is wrong with it. */
import type { Scope } from '../../../../core/src/objects.ts'
import { holdsValue, LIKE_VALUE } from '../../text/keyvalue.ts'
import { isSame } from '../../text/same.ts'

/** What is wrong with a field of the form. */
export interface Problem {
  /** Such as `name`, or `3.project` for a part of a row of the scope. */
  field: string
  text: string
}

type Part = Exclude<keyof ScopeRow, 'id' | 'kind'>

/** The list of the scope for each kind of row, and the members of its entries that are parts of the row. */
const LISTS = {
  project: { list: 'projects', members: { project: 'project' } },
  virtualCluster: { list: 'virtualClusters', members: { project: 'project', virtualCluster: 'name' } },
  space: { list: 'spaces', members: { project: 'project', space: 'name' } },
  cluster: { list: 'clusters', members: { cluster: 'name' } },
  role: { list: 'roles', members: {} },
  rule: { list: 'rules', members: {} },
} as const satisfies Record<string, { list: keyof Scope; members: Readonly<Record<string, Part>> }>

export type RowKind = keyof typeof LISTS
export const KINDS = Object.keys(LISTS) as RowKind[]

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

const split = (text: string): string[] => text.split(/[,\s]+/).filter((one) => one !== '')

/** Returns the texts in a member of that name, and no member for none. */
const listed = <T>(name: string, list: readonly T[] = []) => (list.length === 0 ? {} : { [name]: list })

function entryOf(row: ScopeRow): object {
  if (row.kind === 'role') return roleEntry(row)
  if (row.kind === 'rule') return ruleEntry(row)
  const members = Object.entries(LISTS[row.kind].members)
  return Object.fromEntries(members.map(([member, part]: [string, Part]) => [member, row[part].trim()]))
}

function roleEntry({ role, where }: ScopeRow): object {
  const places = LIMITABLE.includes(role) ? split(where) : []
  const [projects, pairs] = [false, true].map((isPair) => places.filter((one) => one.includes('/') === isPair))
  return { role, ...listed('projects', projects), ...listed('virtualClusters', pairs) }
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
    const { list } = LISTS[row.kind]
    scope[list] = [...(scope[list] ?? []), entryOf(row)]
  }
  return scope
}

const text = (list: readonly string[] = []): string => list.join(', ')

/** Returns the rows of a scope, or undefined if rows cannot say all of it: then they would allow more or less. */
export function rowsOfScope(scope: Scope): ScopeRow[] | undefined {
  const { roles = [], rules = [] } = scope
  // A rule is about any of its resources, so a rule for each of them says the same.
  const single = rules.flatMap((rule) =>
    rule.resources?.length ? rule.resources.map((one) => ({ ...rule, resources: [one] })) : [rule],
  )
  const parts: Partial<ScopeRow>[] = [
    ...(['project', 'virtualCluster', 'space', 'cluster'] as const).flatMap((kind) => {
      const { list, members } = LISTS[kind]
      const entries: readonly Readonly<Record<string, string>>[] = scope[list] ?? []
      return entries.map((entry) => {
        return {
          kind,
          ...Object.fromEntries(Object.entries(members).map(([member, part]) => [part, entry[member] ?? ''])),
        }
      })
    }),
    ...roles.map(({ role = '', projects = [], virtualClusters = [] }) => {
      return { kind: 'role' as const, role, where: text([...projects, ...virtualClusters]) }
    }),
    ...single.map(({ verbs, resources: [one] = [], namespaces }) => ({
      kind: 'rule' as const,
      verbs: text(verbs),
      group: one?.group ?? '',
      resources: text(one?.resources),
      names: text(one?.resourceNames),
      namespaces: text(namespaces),
    })),
  ]
  const rows = parts.map((part, index) => ({ ...newRow(index + 1), ...part }))
  return isSame(scopeOf(rows), { ...scope, ...(rules.length > 0 && { rules: single }) }) ? rows : undefined
}

/** Returns the field of the form for a path below `spec.scope`, such as `spec.scope.projects[0].project`. */
export function rowFieldOf(path: string, rows: readonly ScopeRow[]): string | undefined {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const { list } = LISTS[row.kind]
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
