/** Writes what two scopes do not have in common as lines of YAML, for people. */

import type { Scope } from '../scopes/scope.ts'
import { scopePhrases } from '../scopes/words.ts'

interface ScopeDiff {
  removed: string[]
  added: string[]
}

/** Returns one line for each entry, such as `projects: {project: shop}`. The absence of a scope is a phrase. */
export function diffScopes(before: Scope | undefined, after: Scope): ScopeDiff {
  const [old, next] = [before ? entryLines(before) : scopePhrases(undefined), entryLines(after)]
  return { removed: without(old, next), added: without(next, old) }
}

/** Reports whether the later scope lacks something that the earlier one has. Role view takes away from the entries beside it. */
export const removesSomething = (before: Scope | undefined, after: Scope): boolean =>
  diffScopes(before, after).removed.length > 0 || (hasView(after) && !hasView(before))

const hasView = ({ roles = [] }: Scope = {}): boolean => roles.some(({ role }) => role === 'view')

const entryLines = (scope: Scope): string[] =>
  Object.entries(scope).flatMap(([member, value]) =>
    Array.isArray(value)
      ? value.map((entry) => `${member}: ${flow(entry)}`)
      : value
        ? [`${member}: ${flow(value)}`]
        : [],
  )

/** Returns the lines that `others` does not contain, as often as it lacks them. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return lines.filter((line) => {
    const found = left.indexOf(line)
    if (found >= 0) left.splice(found, 1)
    return found < 0
  })
}

/** Words that need no quotes in YAML, whatever version reads them, except those that some version reads as another value. */
const PLAIN = /^[a-z][-a-z0-9./]*$/i
const VALUE = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** Returns the value in YAML's flow style, in one line. JSON is YAML, so other texts are written as JSON. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, one]) => one !== undefined)
    return `{${members.map(([name, one]) => `${flow(name)}: ${flow(one)}`).join(', ')}}`
  }
  return typeof value === 'string' && PLAIN.test(value) && !VALUE.test(value) ? value : JSON.stringify(value)
}
