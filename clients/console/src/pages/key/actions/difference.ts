/** Compares what a key may do with one scope and with another, entry by entry. */
import { isEntry, isUnlimited } from '../../../../../../lib/access/scopes/unrestricted.ts'
import { scopeWords } from '../../../../../../lib/access/scopes/words.ts'
import type { Scope } from '../../../../../core/src/objects.ts'
import { isSame } from '../../../text/same.ts'
import { scopeEntries } from '../../../text/scopeentries.ts'

export interface Difference {
  /** What only the later scope allows, a line for each entry. Without lines, nothing. */
  gained: string[]
  /** What only the earlier scope allows. */
  lost: string[]
}

const REST = 'everything else that its owner and groups may'

/** Returns what a key with the scope may do, as the rest of a sentence. */
export function mayWords(scope: Scope | undefined): string {
  if (scope === undefined) return `do ${scopeWords(scope)}`
  return scopeEntries(scope).length === 0
    ? 'do nothing, except ask who it is and what it may do'
    : `use ${scopeWords(scope)}`
}

/** Returns the difference. Rules are compared as a whole, so one that is narrower than another counts as gained. */
export function differenceOf(before: Scope | undefined, after: Scope | undefined): Difference {
  return { gained: added(before, after), lost: added(after, before) }
}

function added(before: Scope | undefined, after: Scope | undefined): string[] {
  if (before === undefined) return []
  if (after === undefined) return [REST]
  // With the role view, the entries of most lists only say where the key may read.
  const isLess = hasView(before) && !hasView(after)
  const held = entriesOf(before).filter(({ list }) => !isLess || list === 'rules' || list === 'roles')
  return entriesOf(after)
    .filter((one) => !held.some((other) => covers(other, one)))
    .flatMap(({ list, entry }) => scopeEntries({ [list]: [entry] }))
}

const hasView = ({ roles = [] }: Scope): boolean => roles.some(({ role }) => role === 'view')

interface ListEntry {
  list: keyof Scope
  entry: Readonly<Record<string, unknown>>
  /** Whether role view leaves only reading of it. */
  isViewed: boolean
}

function entriesOf({ allowPlatformCli, ...lists }: Scope): ListEntry[] {
  const roles = [...(lists.roles ?? []), ...(allowPlatformCli ? [{ role: 'platformCLI' }] : [])]
  const hasView = roles.some(({ role }) => role === 'view')
  return Object.entries({ ...lists, roles }).flatMap(([list, entries]) =>
    (entries ?? []).flatMap((entry: unknown) =>
      isEntry(entry)
        ? [{ list: list as keyof Scope, entry, isViewed: hasView && list !== 'roles' && list !== 'rules' }]
        : [],
    ),
  )
}

/** Reports whether an entry allows all that another one does. It says no where it cannot tell. */
function covers(wide: ListEntry, narrow: ListEntry): boolean {
  const [{ list, entry }, { list: other, entry: inner }] = [wide, narrow]
  if (wide.isViewed && !narrow.isViewed) return false
  if (list === 'rules' && isUnlimited(entry)) return true
  if (list === other && isSame(entry, inner)) return true
  const has = (member: string) => inner[member] !== undefined && [inner[member], '*'].includes(entry[member] as string)
  switch (list) {
    case 'projects':
      return ['projects', 'spaces', 'virtualClusters'].includes(other) && has('project')
    case 'spaces':
      return other === list && entry.project === inner.project && has('space')
    case 'virtualClusters':
      return other === list && entry.project === inner.project && has('virtualCluster')
    case 'clusters':
      return other === list && has('cluster')
    case 'roles':
      return other === list && entry.role === inner.role && !entry.projects && !entry.virtualClusters
    default:
      return false
  }
}
