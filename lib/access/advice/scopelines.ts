/** Takes scopes apart into the lines that the engine names, such as `spec.scope.projects[0]`, and puts them together again. */

import type { Scope } from '../scopes/scope.ts'
import { isView } from '../scopes/view.ts'

type ListName = Exclude<keyof Scope, 'allowPlatformCli'>

const LISTS: readonly ListName[] = ['roles', 'projects', 'spaces', 'virtualClusters', 'clusters', 'rules']

export interface ScopeLine {
  /** The name of the line, as in the reason of a decision. */
  line: string
  list: keyof Scope
  /** A scope that has this line only. */
  alone: Scope
}

const lineOf = (list: ListName, index: number): string => `spec.scope.${list}[${index}]`
const CLI_LINE = 'spec.scope.allowPlatformCli'

/** Returns the lines of the scope in the order in which the engine tries them. */
export function linesOf(scope: Scope): ScopeLine[] {
  // Without the role view, the other lists would allow more.
  const roles = (scope.roles ?? []).filter(isView)
  const isLess = (list: ListName) => list !== 'roles' && list !== 'rules' && roles.length > 0
  const lines = LISTS.flatMap((list) =>
    (scope[list] ?? []).map(
      (entry, index): ScopeLine => ({
        line: lineOf(list, index),
        list,
        alone: { [list]: [entry], ...(isLess(list) && { roles }) },
      }),
    ),
  )
  const cli: ScopeLine = { line: CLI_LINE, list: 'allowPlatformCli', alone: { allowPlatformCli: true } }
  return scope.allowPlatformCli === true ? [...lines, cli] : lines
}

/** Replacements of lines by entries of the same list, or by nothing. */
type Replacements = ReadonlyMap<string, readonly object[]>

/** Returns the scope with lines replaced. A list that loses its last entry is removed, because an empty list in a rule would mean everything. */
export function withLines(scope: Scope, replacements: Replacements): Scope {
  const result: Record<string, unknown> = { ...scope }
  for (const list of LISTS) {
    const entries: readonly object[] = scope[list] ?? []
    const replacing = entries.map((_, index) => replacements.get(lineOf(list, index)))
    if (replacing.every((one) => one === undefined)) continue
    const seen = new Set(entries.filter((_, index) => !replacing[index]).map(textOf))
    const next = entries.flatMap((entry, index) => {
      const more = replacing[index]
      return more ? more.filter((one) => !seen.has(textOf(one)) && seen.add(textOf(one))) : [entry]
    })
    if (next.length > 0) result[list] = next
    else delete result[list]
  }
  if (replacements.has(CLI_LINE)) delete result.allowPlatformCli
  return result
}

const textOf = (entry: object): string => JSON.stringify(entry)
