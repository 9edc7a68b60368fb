/** Lists a scope entry by entry, each with everything that restricts it. */
import { scopePhrases } from '../../../../../lib/authorization/scopes/words.ts'

export interface ScopeEntry {
  words: string
  /** What else restricts the entry, such as `verbs: get, list`. */
  limits: readonly string[]
}

/** Returns the entries, and none without a scope. */
export function scopeEntries(scope: unknown): ScopeEntry[] {
  if (typeof scope !== 'object' || scope === null) return []
  return Object.entries(scope)
    .flatMap(([member, value]) =>
      (Array.isArray(value) ? value : [value]).map((entry) => ({
        words: scopePhrases({ [member]: Array.isArray(value) ? [entry] : entry }).join(', '),
        limits: member === 'rules' ? limitsOf(entry) : [],
      })),
    )
    .filter(({ words }) => words !== '')
}

/** Returns the members of a rule that are not empty. */
const limitsOf = (rule: unknown): string[] =>
  Object.entries(typeof rule === 'object' && rule !== null ? rule : {})
    .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([member, value]) => `${member}: ${limitText(value)}`)

const limitText = (value: unknown): string =>
  Array.isArray(value) ? value.map(limitText).join(', ') : value === '' ? '""' : nested(value)

const nested = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
