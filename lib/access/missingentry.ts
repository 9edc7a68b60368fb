/** Finds the scope entry whose lack made a chain of scopes refuse a request. */
import type { Attributes, Decision } from './attributes/attributes.ts'
import { type BroaderEntry, broaderEntries } from './scopes/broaderentries.ts'
import { validateChain } from './scopes/chain.ts'
import { evaluate } from './scopes/evaluate.ts'
import { exactEntry } from './scopes/exactentry.ts'
import type { ScopeOptions } from './scopes/project.ts'
import type { Scope, ScopeChain } from './scopes/scope.ts'
import { validateScope } from './scopes/validatescope.ts'

/** Decides the request by a chain: `evaluate`, or `evaluateAt` for a place. */
export type Judge = (chain: ScopeChain) => Decision

/** How a chain is judged, and the indexes of its scopes that refuse the request by themselves. */
interface Refusal {
  judge: Judge
  refusing: readonly number[]
}

/** Judges each scope of the chain by itself. */
export const judgeEach = (chain: ScopeChain, judge: Judge): Refusal => ({
  judge,
  refusing: chain.flatMap((scope, index) => (judge([scope]).allowed ? [] : [index])),
})

interface MissingEntry {
  /** Index of the scope that refuses. */
  index: number
  /** Allows this request and nothing else. */
  exact: Scope
}

/**
 * Returns the entry that makes the chain allow the request when it is added to the only scope that refuses it. Returns
 * undefined when several scopes refuse, and when no valid entry allows just this request.
 */
export function missingEntry(
  chain: ScopeChain,
  attributes: Attributes,
  options: ScopeOptions,
  { judge, refusing } = judgeEach(chain, (scopes) => evaluate(scopes, attributes, options)),
): MissingEntry | undefined {
  const [index] = refusing
  if (index === undefined || refusing.length > 1) return undefined
  const exact = exactEntry(attributes, options)
  return exact && suffices(exact, index, chain, judge) ? { index, exact } : undefined
}

/**
 * Returns the narrowest entry of a list other than `rules`, or role, that would suffice as well. `keyName` is the name of
 * the presented access key. An entry that allows only objects of the user's own is not returned.
 */
export function broaderEntry(
  chain: ScopeChain,
  { index }: MissingEntry,
  { attributes, keyName, options }: { attributes: Attributes; keyName: string; options: ScopeOptions },
): BroaderEntry | undefined {
  const judge: Judge = (scopes) => evaluate(scopes, attributes, options)
  return broaderEntries(attributes, keyName, options).find(({ entry }) => {
    const decision = judge([entry])
    const isWhole = decision.allowed && (!decision.own || decision.self === true)
    return isWhole && suffices(entry, index, chain, judge)
  })
}

/** Reports whether the entry is valid, and the chain with it valid and sufficient. */
function suffices(entry: Scope, index: number, chain: ScopeChain, judge: Judge): boolean {
  const widened = chain.map((scope, at) => (at === index ? withEntry(scope, entry) : scope))
  return validateScope(entry).length === 0 && validateChain(widened).length === 0 && judge(widened).allowed
}

/** Returns the scope with the entries of `entry` added to its lists. */
export function withEntry(scope: Scope, entry: Scope): Scope {
  const lists = Object.entries(entry).map(([name, list]) => [name, [...(listOf(scope, name) ?? []), ...(list as [])]])
  return { ...scope, ...Object.fromEntries(lists) }
}

const listOf = (scope: Scope, name: string) => scope[name as Exclude<keyof Scope, 'allowPlatformCli'>]
