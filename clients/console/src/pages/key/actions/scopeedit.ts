/** Makes the patch of an edited scope, for the version of the key that the person has seen. */
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { ApiError } from '../../../api/status.ts'
import { rowsOfScope } from '../../../components/scope/rowsofscope.ts'
import type { Problem } from '../../../components/scope/scoperows.ts'
import { newRow, rowFieldOf, type ScopeRow, scopeOf } from '../../../components/scope/scoperows.ts'
import { isSame } from '../../../text/same.ts'
import type { KeyPatch } from './patchkey.ts'

/** What a person has made of the scope of a version of a key. */
export interface ScopeEdit {
  resourceVersion: string
  isScoped: boolean
  rows: readonly ScopeRow[]
}

/** Reports whether rows cannot say all of the scope. Then the edit begins with no entry, and replaces the whole scope. */
export const isOther = ({ spec: { scope } }: AccessKey): boolean =>
  scope !== undefined && rowsOfScope(scope) === undefined

/** Returns an edit that changes nothing yet. */
export const scopeEditOf = ({ metadata: { resourceVersion }, spec: { scope } }: AccessKey): ScopeEdit => ({
  resourceVersion,
  isScoped: scope !== undefined,
  rows: (scope && rowsOfScope(scope)) ?? [newRow(1)],
})

/** Returns the scope of the edit, or undefined for none. */
export const editedScope = ({ isScoped, rows }: ScopeEdit): Scope | undefined => (isScoped ? scopeOf(rows) : undefined)

/**
 * Returns the merge patch that gives the key this scope, or undefined if it has it already. A merge patch keeps members that it does not
 * name, so it names all that go.
 */
export function scopePatch({ metadata: { uid }, spec }: AccessKey, edit: ScopeEdit): KeyPatch | undefined {
  const scope = editedScope(edit)
  if (isSame(scope, spec.scope)) return undefined
  const gone = Object.keys(spec.scope ?? {}).map((member) => [member, null])
  const { resourceVersion } = edit
  return {
    metadata: { uid, resourceVersion },
    spec: { scope: scope === undefined ? null : { ...Object.fromEntries(gone), ...scope } },
  }
}

/** Returns the problems of the rows that a refusal names. Returns none if it also concerns anything else. */
export function refusedRows(error: unknown, rows: readonly ScopeRow[]): Problem[] {
  const causes = error instanceof ApiError && error.code === 422 ? (error.status.details?.causes ?? []) : []
  const problems = causes.map(({ field = '', message = '' }) => ({ field: rowFieldOf(field, rows), text: message }))
  const known = problems.filter((one): one is Problem => one.field !== undefined)
  return known.length === problems.length ? known : []
}
