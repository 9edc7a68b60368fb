/**
 * Parses the query options of writes, and the values of all options. Unknown parameters are ignored. A value that does not parse is a 400 in Go's
 * words; an invalid value or combination is a 422 on the kind of the options.
 * Source: k8s.io/apimachinery apis/meta/v1 (conversion, validation), apis/meta/internalversion/validation.
 */

import { quote } from '../meta/encoding/gotext.ts'
import { parseQueryFlag, parseSigned } from '../meta/encoding/strconv.ts'
import { type FieldError, forbidden, notSupported, required } from '../meta/errors/fielderror.ts'
import { badRequest, invalidObject } from '../meta/errors/status.ts'
import { validateFieldManager } from '../meta/object/managername.ts'
import type { KindInfo, RequestContext } from '../registry/kind.ts'
import { type ApiRequest, queryValue } from './request.ts'

type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface WriteOptions {
  dryRun: boolean
  /** '' if not given: Warn, or stricter for kinds that grant access (decoderequest.ts). */
  fieldValidation: FieldValidation | ''
  /** '' if not given. */
  fieldManager: string
  /** Absent if not given. */
  force?: boolean
}

export type Query = ApiRequest['query']

/** Returns a flag; undefined if it is absent. */
export function queryFlag(query: Query, name: string): boolean | undefined {
  const value = queryValue(query, name)
  return value === undefined ? undefined : parseQueryFlag(value)
}

/** Parses an int64, rounded beyond JavaScript's safe integers. Throws 400 in Go's words. */
export function queryInteger(query: Query, name: string): number | undefined {
  const value = queryValue(query, name)
  if (value === undefined) return undefined
  const number = parseSigned(value)
  if (typeof number === 'string') throw badRequest(`strconv.ParseInt: parsing ${quote(value)}: ${number}`)
  return Number(number)
}

export const optionsError = (kind: string, errors: readonly FieldError[]) =>
  invalidObject('meta.k8s.io', kind, '', errors)

/** Returns the errors of dryRun, whose only value is `All`. */
export function dryRunErrors(values: readonly string[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', [...values], ['All'])]
}

/** Parses the options that all writes have, and reports its errors after the given ones. Throws 422 on `kind`. */
function writeOptions(
  query: Query,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  errors: FieldError[] = [],
): WriteOptions {
  const dryRun = query.get('dryRun') ?? []
  const fieldManager = queryValue(query, 'fieldManager') ?? ''
  const fieldValidation = queryValue(query, 'fieldValidation') ?? ''
  errors.push(...validateFieldManager(fieldManager), ...dryRunErrors(dryRun))
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  if (errors.length > 0) throw optionsError(kind, errors)
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation as FieldValidation | '',
    fieldManager,
  }
}

/**
 * Throws 400 for a parameter that looks like `dryRun` and is not, such as `dryrun`, `dry_run` or `dryRun[]`, in a write of a kind that
 * grants access. Unknown parameters are otherwise ignored, and the request would take effect: it would issue a credential, for example.
 */
export function refuseDryRunLookalikes(query: Query, { grantsAccess }: KindInfo): void {
  if (!grantsAccess) return
  for (const name of query.keys()) {
    const letters = name.toLowerCase().replace(/[^a-z]/g, '')
    if (name === 'dryRun' || !(letters.startsWith('dry') || letters.includes('dryrun'))) continue
    throw badRequest(`unknown query parameter ${quote(name)}: a dry run is requested with dryRun=All`)
  }
}

/** Throws 422 on CreateOptions. */
export const createOptions = (query: Query): WriteOptions => writeOptions(query, 'CreateOptions')

/** Throws 422 on UpdateOptions. */
export const updateOptions = (query: Query): WriteOptions => writeOptions(query, 'UpdateOptions')

/** Throws 422 on PatchOptions. An apply needs a field manager; other patches may not set `force`. */
export function patchOptions(query: Query, type: string): WriteOptions {
  const isApply = type === 'application/apply-patch+yaml'
  const force = queryFlag(query, 'force')
  const errors: FieldError[] = []
  if (isApply && !queryValue(query, 'fieldManager')) {
    errors.push(required('fieldManager', 'is required for apply patch'))
  }
  if (!isApply && force !== undefined) errors.push(forbidden('force', 'may not be specified for non-apply patch'))
  return { ...writeOptions(query, 'PatchOptions', errors), ...(force !== undefined && { force }) }
}

/** Returns the context of a write. Notes a dry run at once: the audit record must show it even if the request fails later. */
export function withDryRun(context: Omit<RequestContext, 'dryRun'>, dryRun: boolean): RequestContext {
  if (dryRun) context.note('dryRun', true)
  return { ...context, dryRun }
}
