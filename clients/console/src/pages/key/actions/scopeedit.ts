/** Reads a scope into an edit, and refusals into its rows. */
import type { AccessKey, Scope } from '../../../../../core/src/objects.ts'
import { ApiError } from '../../../api/status.ts'
import {
  newRow,
  type Problem,
  rowFieldOf,
  rowsOfScope,
  type ScopeRow,
  scopeOf,
} from '../../../components/scope/scoperows.ts'

/** What a person has made of the scope of a key. */
export interface ScopeEdit {
  isScoped: boolean
  rows: readonly ScopeRow[]
}

/** Reports whether rows cannot say all of the scope. Then the edit begins with no entry, and replaces the whole scope. */
export const isOther = ({ spec: { scope } }: AccessKey): boolean =>
  scope !== undefined && rowsOfScope(scope) === undefined

/** Returns an edit that changes nothing yet. */
export const scopeEditOf = ({ spec: { scope } }: AccessKey): ScopeEdit => ({
  isScoped: scope !== undefined,
  rows: (scope && rowsOfScope(scope)) ?? [newRow(1)],
})

/** Returns the scope of the edit, or undefined for none. */
export const editedScope = ({ isScoped, rows }: ScopeEdit): Scope | undefined => (isScoped ? scopeOf(rows) : undefined)

/** Returns the problems of the rows that a refusal names. Returns none if it also concerns anything else. */
export function refusedRows(error: unknown, rows: readonly ScopeRow[]): Problem[] {
  const causes = error instanceof ApiError && error.code === 422 ? (error.status.details?.causes ?? []) : []
  const problems = causes.map(({ field = '', message = '' }) => ({ field: rowFieldOf(field, rows), text: message }))
  const known = problems.filter((one): one is Problem => one.field !== undefined)
  return known.length === problems.length ? known : []
}
