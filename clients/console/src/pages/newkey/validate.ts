/** Finds what is wrong with the form before the server is asked, and the fields of what the server refuses. */
import { keyTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { ApiError } from '../../api/status.ts'
import { type Problem, rowFieldOf, scopeProblems } from '../../components/scope/scoperows.ts'
import { holdsValue, LIKE_VALUE } from '../../text/keyvalue.ts'
import { countProblem } from '../../text/lifetimechoice.ts'
import { nameProblem } from '../../text/names.ts'
import { hasSecret } from '../../text/secrets.ts'
import type { KeyForm } from './form.ts'

/** Returns what the server cannot find, in the order of the fields: a secret that it must not get, and what would mean something else. */
export function problemsOf(form: KeyForm): Problem[] {
  const { ownerKind, owner, rows, isScoped } = form
  const count = countProblem(form)
  const name = form.name.trim() === '' ? undefined : nameProblem(form.name.trim())
  return [
    ...(['name', 'owner'] as const).flatMap((field) => (holdsValue(form[field]) ? [{ field, text: LIKE_VALUE }] : [])),
    ...(name && !holdsValue(form.name) ? [{ field: 'name', text: name }] : []),
    ...keyTexts.flatMap(({ name: field }) => (hasSecret(form[field]) ? [{ field, text: LIKE_VALUE }] : [])),
    ...(ownerKind !== 'self' && owner.trim() === '' ? [{ field: 'owner', text: `Name the ${ownerKind}.` }] : []),
    ...(isScoped ? scopeProblems(rows) : []),
    ...(count ? [{ field: 'count', ...count }] : []),
  ]
}

/** The fields of the form by the paths of the server. */
const FIELDS: readonly [path: string, field: string][] = [
  ['metadata', 'name'],
  ...keyTexts.map(({ name }): [string, string] => [`spec.${name}`, name]),
  ['spec.user', 'owner'],
  ['spec.team', 'owner'],
  ['spec.subject', 'owner'],
  ['spec.groups', 'groups'],
  ['spec.ttl', 'lifetime'],
  ['spec.ttlAfterLastActivity', 'lifetime'],
  ['spec.sourceCIDRs', 'sources'],
  ['spec.scope', 'scope'],
]

/** Returns the field of the form for a path of the server, or undefined. */
export function fieldOf(path: string, form: KeyForm): string | undefined {
  const row = form.isScoped ? rowFieldOf(path, form.rows) : undefined
  const rest = (start: string) => path.slice(start.length)
  return row ?? FIELDS.find(([start]) => path.startsWith(start) && /^($|[.[])/.test(rest(start)))?.[1]
}

/** Returns the problems of the fields that a refusal names. Returns none if it also concerns anything else in the request. */
export function refusedFields(error: unknown, form: KeyForm): Problem[] {
  if (!(error instanceof ApiError)) return []
  if (error.code === 409) return [{ field: 'name', text: 'A key with this name exists already.' }]
  // A 403 begins its reason with the path.
  const [, path = '', reason = ''] = /\b(spec\.\w+): (.*)$/s.exec(error.message) ?? []
  const causes =
    error.code === 403
      ? [{ field: path, message: reason }]
      : error.code === 422
        ? (error.status.details?.causes ?? [])
        : []
  const problems = causes.map(({ field = '', message = '' }) => ({ field: fieldOf(field, form), text: message }))
  const known = problems.filter((one): one is Problem => one.field !== undefined)
  return known.length === problems.length ? known : []
}
