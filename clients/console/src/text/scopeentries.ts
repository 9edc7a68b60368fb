/** Lists a scope entry by entry, each with everything that restricts it. Servers of other releases may send anything. */
import { isEntry, isUnlimited } from '../../../../lib/access/scopes/unrestricted.ts'
import { scopePhrases } from '../../../../lib/access/scopes/words.ts'

/** Returns the entries, such as `project demo` or `a rule (verbs get list; namespaces shop)`, and none without a scope. */
export function scopeEntries(scope: unknown): string[] {
  if (!isEntry(scope)) return []
  return Object.entries(scope)
    .flatMap(([member, value]) =>
      (Array.isArray(value) ? value : [value]).map((entry: unknown) =>
        member === 'rules' && isEntry(entry) && !isUnlimited(entry)
          ? `a rule (${limitsOf(entry).join('; ')})`
          : scopePhrases({ [member]: Array.isArray(value) ? [entry] : entry }).join(', '),
      ),
    )
    .filter((words) => words !== '')
}

/** Returns the members that are not empty. */
const limitsOf = (entry: object): string[] =>
  Object.entries(entry)
    .filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([member, value]) => `${member} ${limitText(value)}`)

function limitText(value: unknown): string {
  if (Array.isArray(value)) return value.map(limitText).join(' ')
  if (isEntry(value)) return `(${limitsOf(value).join(', ')})`
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
