/** Reads a scope into an edit, and refusals into its rows. */
import type { Scope } from '../../../../../core/src/objects.ts'
import { ApiError } from '../../../api/status.ts'
import {
  newRow,
  type Problem,
  rowFieldOf,
  rowsOfScope,
  type ScopeRow,
  scopeOf,
} from '../../../components/scope/scoperows.ts'

/** What a person has made of a scope. */
export interface ScopeEdit {
  isScoped: boolean
  rows: readonly ScopeRow[]
  /** What it began with, which stays as it is while its rows do. */
  first: { scope: Scope | undefined; rows: readonly ScopeRow[] }
}

/** Returns an edit that changes nothing yet. */
export function scopeEditOf(scope: Scope | undefined): ScopeEdit {
  const rows = scope ? rowsOfScope(scope) : [newRow(1)]
  return { isScoped: scope !== undefined, rows, first: { scope, rows } }
}

/** Returns the scope of the edit, or undefined for none. */
export const editedScope = ({ isScoped, rows, first }: ScopeEdit): Scope | undefined =>
  !isScoped ? undefined : rows === first.rows && first.scope ? first.scope : scopeOf(rows)

/** Returns the problems of the rows that a refusal names. Returns none if it also concerns anything else. */
export function refusedRows(error: unknown, rows: readonly ScopeRow[]): Problem[] {
  const causes = error instanceof ApiError && error.code === 422 ? (error.status.details?.causes ?? []) : []
  const problems = causes.map(({ field = '', message = '' }) => ({ field: rowFieldOf(field, rows), text: message }))
  const known = problems.filter((one): one is Problem => one.field !== undefined)
  return known.length === problems.length ? known : []
}
