/** Says what a scope allows as the clauses of a sentence, which name the things and what a role or a rule lets one do with them. */

/** A scope: docs/scopes.md. */
export interface Scope {
  roles?: { role?: string; projects?: string[]; virtualClusters?: string[] }[]
  projects?: { project?: string }[]
  spaces?: { project?: string; space?: string }[]
  virtualClusters?: { project?: string; virtualCluster?: string }[]
  clusters?: { cluster?: string }[]
  rules?: object[]
  allowPlatformCli?: boolean
}

/** Returns clauses that follow "may", such as `use everything in project demo`. None: the scope allows nothing of its own. */
export function scopeClauses(scope: Scope): string[] {
  const { roles = [], projects = [], spaces = [], virtualClusters = [], clusters = [], rules = [] } = scope
  const things = [
    ...projects.map(({ project }) => (project === '*' ? 'all projects' : `project ${said(project)}`)),
    ...virtualClusters.map((one) => within('virtual cluster', one.project, one.virtualCluster)),
    ...spaces.map(({ project, space }) => within('space', project, space)),
    ...clusters.map(({ cluster }) =>
      cluster === '*' ? 'all connected clusters' : `the connected cluster ${said(cluster)}`,
    ),
  ]
  return [
    ...(things.length > 0 ? [`use everything in ${joined(things)}`] : []),
    ...[...roles, ...(scope.allowPlatformCli ? [{ role: 'platformCLI' }] : [])].map(roleClause),
    ...rules.map(ruleClause),
  ]
}

/** Returns `a`, `a and b` or `a, b and c`. */
export const joined = (list: readonly string[]): string =>
  list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`

/** Returns a name that was typed: in quotation marks if it could be read as part of the sentence, `…` if it is not typed yet. */
export function said(name = ''): string {
  if (name === '') return '…'
  return /^[\w.:/*-]+$/.test(name) ? name : `“${name.replaceAll(/[“”]/g, "'")}”`
}

const within = (noun: string, project: string | undefined, name: string | undefined): string =>
  name === '*' ? `all ${noun}s of project ${said(project)}` : `the ${noun} ${said(project)}/${said(name)}`

const CONNECTING = 'review tokens and access, read virtual clusters and write their status'

type Role = NonNullable<Scope['roles']>[number]

/** What each role allows: docs/scopes.md. */
function roleClause({ role = '', projects = [], virtualClusters = [] }: Role): string {
  const places = placesOf(projects, virtualClusters)
  switch (role) {
    case 'platformCLI':
      return places === '' ? 'read all virtual clusters and the keys of its owner' : `read virtual clusters${places}`
    case 'selfRotate':
      return 'read and rotate itself'
    case 'agent':
    case 'vcluster':
      return `${CONNECTING}${places} (role ${role})`
    case 'network-peer':
    case 'runner':
    case 'workspace':
      return `have the role ${role}, which allows nothing in this API`
    default:
      return `have the role ${said(role)}`
  }
}

function placesOf(projects: readonly string[], virtualClusters: readonly string[]): string {
  const of =
    projects.length === 0
      ? ''
      : projects.includes('*')
        ? ' of all projects'
        : ` of project${s(projects)} ${joined(projects.map(said))}`
  return virtualClusters.length === 0 ? of : `${of}, only ${joined(virtualClusters.map(said))}`
}

const s = (list: readonly unknown[]): string => (list.length === 1 ? '' : 's')

interface Rule {
  verbs?: readonly string[]
  resources?: readonly { group?: string; resources?: readonly string[]; resourceNames?: readonly string[] }[]
  namespaces?: readonly string[]
}

function ruleClause(rule: object): string {
  const { verbs = [], resources = [], namespaces = [], ...more }: Rule = rule
  if (Object.values(more).some((value) => value !== '' && !(Array.isArray(value) && value.length === 0))) {
    return `do what this rule allows: ${JSON.stringify(rule)}`
  }
  const limits = verbs.includes('*') ? [] : verbs
  if (limits.length + resources.length + namespaces.length === 0) return 'do everything, by a rule without limits'
  const what = resources.length === 0 ? 'everything' : joined(resources.map(resourceWords))
  return `${limits.length === 0 ? 'do everything with' : joined(limits.map(said))} ${what}${namespaceWords(namespaces)}`
}

function resourceWords({
  group = '',
  resources = [],
  resourceNames = [],
}: NonNullable<Rule['resources']>[number]): string {
  const isAll = resources.length === 0 || resources.includes('*')
  const names = resourceNames.length === 0 ? '' : ` named ${joined(resourceNames.map(said))}`
  const of = group === '' ? (isAll ? ' of the core group' : '') : ` of ${said(group)}`
  return `${isAll ? 'all resources' : joined(resources.map(said))}${of}${names}`
}

function namespaceWords(namespaces: readonly string[]): string {
  if (namespaces.length === 0) return ''
  const named = namespaces.filter((one) => one !== '')
  const words = named.length > 0 ? ` in the namespace${s(named)} ${joined(named.map(said))}` : ''
  return named.length < namespaces.length ? `${words}${words && ' and'} outside of namespaces` : words
}
