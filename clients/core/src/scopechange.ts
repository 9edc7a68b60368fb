/** Writes the JSON patches that try a scope, make it real and put the former one back. A merge patch would merge scopes. */
import { diffScopes } from '../../../lib/authorization/usage/scopediff.ts'
import type { JsonObject, JsonValue } from '../../../lib/meta/types.ts'
import type { Status } from './answers.ts'
import type { AccessKey, Scope } from './objects.ts'

const json = (value: object): JsonValue => value as JsonObject

/** The server refuses the patch with a 409 if the key has changed since it was read. */
const unchanged = ({ metadata }: AccessKey): JsonObject => ({
  op: 'replace',
  path: '/metadata/resourceVersion',
  value: metadata.resourceVersion,
})

/** Returns the patch that begins a trial, or gives the one that runs another scope or end. */
export const trialPatch = (key: AccessKey, scope: Scope, until: string): JsonObject[] => [
  unchanged(key),
  { op: 'add', path: '/spec/scopeTrial', value: json({ scope, until }) },
]

/** Returns the patch that makes a scope real, with or without a trial of it. The server keeps the former one. */
export const realPatch = (key: AccessKey, scope: Scope, { isForced }: { isForced: boolean }): JsonObject[] => [
  ...scopePatch(key, scope),
  { op: 'add', path: '/spec/scopeTrial', value: json({ scope, ...(isForced && { force: true }) }) },
]

export const endPatch = (key: AccessKey): JsonObject[] => [unchanged(key), { op: 'remove', path: '/spec/scopeTrial' }]

/** Returns the patch that drops the scopes that were added to the inherited ones. */
export const dropPatch = (key: AccessKey): JsonObject[] => [
  unchanged(key),
  { op: 'add', path: '/spec/dropAddedScopes', value: true },
]

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

export interface Undo {
  undoes: 'trial' | 'scope' | 'added'
  patch: JsonObject[]
}

/**
 * Returns the patch that undoes the last step: ends a trial, puts the former scope back, or drops the scopes that were added. A trial is
 * always the later step, because making one real ends it. Undefined if there is nothing to undo.
 */
export function undoPatch(key: AccessKey): Undo | undefined {
  const { spec, status } = key
  if (spec?.scopeTrial) return { undoes: 'trial', patch: endPatch(key) }
  const former = status?.formerScope
  if (former) return { undoes: 'scope', patch: scopePatch(key, former.scope) }
  return status?.addedScopes?.length ? { undoes: 'added', patch: dropPatch(key) } : undefined
}

/** Returns the requests that keep the scope of a trial from being made real; undefined for any other refusal. */
export function refusedByTrial({ details }: Partial<Status>): string[] | undefined {
  const causes: unknown = details?.causes
  const refused = (Array.isArray(causes) ? causes : []).flatMap(
    (cause: { reason?: string; message?: string } | null) =>
      cause?.reason === 'ScopeTrialRefused' && typeof cause.message === 'string' ? [cause.message] : [],
  )
  return refused.length > 0 ? refused : undefined
}

/** Returns what a change of scope removes and adds: one line of YAML for each entry, behind `-` or `+`. */
export function scopeDiff(before: Scope | undefined, after: Scope | undefined): string[] {
  if (after !== undefined) return diffLines(diffScopes(before, after))
  if (before === undefined) return []
  const { removed, added } = diffScopes(undefined, before)
  return diffLines({ removed: added, added: removed })
}

export const diffLines = ({ removed = [], added = [] }: { removed?: string[]; added?: string[] }): string[] => [
  ...removed.map((line) => `- ${line}`),
  ...added.map((line) => `+ ${line}`),
]
