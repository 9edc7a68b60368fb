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

type Part = Exclude<keyof ScopeRow, 'id' | 'kind' | 'alone'>

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
  /** An entry that the other parts cannot say, alone in a scope. It stays as it is. */
  alone?: Scope
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
  const scope: Record<string, unknown> = {}
  for (const row of rows) {
    for (const [list, value] of Object.entries(row.alone ?? { [LISTS[row.kind].list]: [entryOf(row)] }))
      scope[list] = Array.isArray(value) ? [...((scope[list] as unknown[] | undefined) ?? []), ...value] : value
  }
  return scope
}

const text = (list: readonly string[] = []): string => list.join(', ')

/** Returns the rows of a scope. */
export const rowsOfScope = (scope: Scope): ScopeRow[] =>
  Object.entries(scope)
    .flatMap(([list, value]): Scope[] => {
      if (!Array.isArray(value)) return value ? [{ [list]: value }] : []
      return value.flatMap((entry: Rule) =>
        // A rule is about any of its resources, so a rule for each of them says the same.
        list === 'rules' && entry.resources?.length
          ? entry.resources.map((one) => ({ rules: [{ ...entry, resources: [one] }] }))
          : [{ [list]: [entry] }],
      )
    })
    .map((alone, index) => {
      const row = { ...newRow(index + 1), ...partsOf(alone) }
      return isSame(scopeOf([row]), alone) ? row : { ...row, alone }
    })

type Rule = NonNullable<Scope['rules']>[number]

/** Returns the parts that say the only entry of a scope, as far as there are such. */
function partsOf(scope: Scope): Partial<ScopeRow> {
  const kind = KINDS.find((one) => LISTS[one].list in scope)
  if (!kind) return {}
  const { list, members } = LISTS[kind]
  const [entry = {}]: readonly Entry[] = scope[list] ?? []
  const { role, projects = [], virtualClusters = [], verbs, resources: [one] = [], namespaces } = entry
  return {
    kind,
    ...Object.fromEntries(Object.entries(members).map(([member, part]) => [part, entry[member as 'project'] ?? ''])),
    ...(kind === 'role' && { role: role ?? '', where: text([...projects, ...virtualClusters]) }),
    ...(kind === 'rule' && {
      verbs: text(verbs),
      group: one?.group ?? '',
      resources: text(one?.resources),
      names: text(one?.resourceNames),
      namespaces: text(namespaces),
    }),
  }
}

/** What entries of the lists may have. */
interface Entry extends Omit<Rule, 'virtualClusters'> {
  project?: string
  role?: string
  projects?: string[]
  virtualClusters?: string[]
}

/** Returns the field of the form for a path below `spec.scope`, such as `spec.scope.projects[0].project`. */
export function rowFieldOf(path: string, rows: readonly ScopeRow[]): string | undefined {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const [list = ''] = Object.keys(scopeOf([row]))
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
  rows.flatMap(({ id, kind: _, alone: _alone, ...parts }) =>
    Object.entries(parts).flatMap(([part, text]) =>
      holdsValue(text) ? [{ field: `${id}.${part}`, text: LIKE_VALUE }] : [],
    ),
  )
