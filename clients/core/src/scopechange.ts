/** Writes the JSON patches that change a scope. A merge patch would merge scopes. */
import { diffScopes, removesSomething } from '../../../lib/access/advice/scopediff.ts'
import type { JsonObject, JsonValue } from '../../../lib/engine/meta/types.ts'
import type { AccessKey, Scope } from './objects.ts'

const json = (value: object): JsonValue => value as JsonObject

/** The server refuses the patch with a 409 if the key has changed since it was read. */
const unchanged = ({ metadata }: AccessKey): JsonObject => ({
  op: 'replace',
  path: '/metadata/resourceVersion',
  value: metadata.resourceVersion,
})

/** Returns the patch that drops the scopes that were added to the inherited ones. */
export const dropPatch = (key: AccessKey): JsonObject[] => [
  unchanged(key),
  { op: 'add', path: '/spec/dropAddedScopes', value: true },
]

/** Returns the patch that sets the scope, or removes it. The server keeps the former one for 30 days. */
export const scopePatch = (key: AccessKey, scope: Scope | undefined): JsonObject[] => [
  unchanged(key),
  scope === undefined ? { op: 'remove', path: '/spec/scope' } : { op: 'add', path: '/spec/scope', value: json(scope) },
]

/** Returns a patch for somebody who sends it later: it sets a scope only if that of the key is still the same. */
export const pastedPatch = (key: AccessKey, scope: Scope): JsonObject[] => [
  // An operation cannot test that a field is absent.
  key.spec?.scope ? { op: 'test', path: '/spec/scope', value: json(key.spec.scope) } : unchanged(key),
  { op: 'add', path: '/spec/scope', value: json(scope) },
]

/** Returns what a change of scope removes and adds: one line of YAML for each entry, behind `-` or `+`. */
export function scopeDiff(before: Scope | undefined, after: Scope | undefined): string[] {
  if (after !== undefined) return diffLines(diffScopes(before, after))
  if (before === undefined) return []
  const { removed, added } = diffScopes(undefined, before)
  return diffLines({ removed: added, added: removed })
}

/** Returns what a change of scope does, as far as its entries tell. */
export function scopeAct(before: Scope | undefined, after: Scope | undefined): 'narrowed' | 'widened' | 'changed' {
  if (!before || !after) return before ? 'widened' : 'narrowed'
  const [isLess, isMore] = [removesSomething(before, after), removesSomething(after, before)]
  return isLess === isMore ? 'changed' : isLess ? 'narrowed' : 'widened'
}

export const diffLines = ({ removed = [], added = [] }: { removed?: string[]; added?: string[] }): string[] => [
  ...removed.map((line) => `- ${line}`),
  ...added.map((line) => `+ ${line}`),
]
