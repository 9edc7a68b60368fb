/** Lists a scope entry by entry, each with everything that restricts it. Servers of other releases may send anything. */
import { type Entry, isEntry, isUnlimited } from '../../../../lib/access/scopes/unrestricted.ts'
import { scopePhrases } from '../../../../lib/access/scopes/words.ts'
import type { Scope } from '../../../core/src/objects.ts'

/** Returns the entries, such as `project demo` or `get, list pods in namespaces shop`, and none without a scope. */
export function scopeEntries(scope: unknown): string[] {
  if (!isEntry(scope)) return []
  return Object.entries(scope)
    .flatMap(([member, value]) =>
      (Array.isArray(value) ? value : [value]).map((entry: unknown) =>
        member === 'rules' && isEntry(entry) && !isUnlimited(entry)
          ? ruleWords(entry)
          : scopePhrases({ [member]: Array.isArray(value) ? [entry] : entry }).join(', '),
      ),
    )
    .filter((words) => words !== '')
}

/** What a rule is about, and where, in the order of a sentence. */
const PARTS = {
  resources: '',
  nonResourceURLs: 'at',
  resourceNames: 'named',
  namespaces: 'in namespaces',
  cluster: 'in cluster',
  virtualClusters: 'in virtual clusters',
  requestTargets: 'of',
}

function ruleWords({ verbs = '', ...rule }: Entry): string {
  const { resources = '', nonResourceURLs = '' } = rule
  const isAny = textOf(resources) + textOf(nonResourceURLs) === ''
  const members = new Set([...Object.keys(PARTS), ...Object.keys(rule)])
  const parts = [...members].flatMap((member) => {
    const text = textOf(rule[member] ?? '')
    return text === '' ? [] : [PARTS[member as keyof typeof PARTS] ?? member, text]
  })
  return [textOf(verbs) || 'any verb for', isAny ? 'everything' : '', ...parts].filter(Boolean).join(' ')
}

/** Returns `apps/deployments` for resources of a group, and `p-shop/main` for an object in a namespace. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => textOf(one) || '""').join(', ')
  if (!isEntry(value)) return typeof value === 'string' ? value : JSON.stringify(value)
  const { group = '', namespace = '', ...others } = value
  return [group, namespace, ...Object.values(others)].map(textOf).filter(Boolean).join('/')
}

/** Says what a change of role view does to the other entries, if there is one. */
export function viewWords(before: Scope | undefined, after: Scope | undefined): string | undefined {
  if (hasView(before) === hasView(after)) return undefined
  return hasView(after)
    ? 'With role view, the other entries only allow to read.'
    : 'Without role view, the other entries allow to write, too.'
}

const hasView = ({ roles = [] }: Scope = {}): boolean => roles.some(({ role }) => role === 'view')
