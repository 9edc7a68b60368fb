/** Reads a scope that a person has typed, in the words that the parameter `scope` of an exchange has. */
import type { Scope } from '../../text/scopesentence.ts'

export const SCOPE_WORDS =
  'project:NAME, virtualcluster:PROJECT/NAME, space:PROJECT/NAME, cluster:NAME or role:NAME. Separate several by spaces.'

/** The list of the scope that a word adds to, and the members of its entry. */
const KINDS: ReadonlyMap<string, readonly [list: keyof Scope, ...members: string[]]> = new Map([
  ['project', ['projects', 'project']],
  ['virtualcluster', ['virtualClusters', 'project', 'virtualCluster']],
  ['space', ['spaces', 'project', 'space']],
  ['cluster', ['clusters', 'cluster']],
  ['role', ['roles', 'role']],
])

/** Returns the scope, with the words that are not understood. */
export function readScope(text: string): { scope: Scope; unknown: string[] } {
  const lists = new Map<string, object[]>()
  const unknown: string[] = []
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const [, kind = '', value = ''] = /^([a-z]+):(.+)$/.exec(word) ?? []
    const [list = '', ...members] = KINDS.get(kind) ?? []
    const parts = value.split('/')
    if (parts.length !== members.length || parts.includes('')) {
      unknown.push(word)
    } else {
      const entry = Object.fromEntries(members.map((member, at) => [member, parts[at]]))
      lists.set(list, [...(lists.get(list) ?? []), entry])
    }
  }
  return { scope: Object.fromEntries(lists) as Scope, unknown }
}
