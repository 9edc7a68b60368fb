/**
 * Query options of reads and writes. Unknown parameters are ignored; what does not parse is 400 with Go's words; what
 * parses but may not be is 422 on the kind of the options.
 * Source: k8s.io/apimachinery apis/meta/v1 (conversion, validation), apis/meta/internalversion/validation.
 */

import { NamedText } from '../meta/encoding/badvalue.ts'
import { int64 } from '../meta/encoding/gointegers.ts'
import { quoted } from '../meta/encoding/gotext.ts'
import { type FieldError, forbidden, notSupported, required } from '../meta/errors/fielderror.ts'
import { badRequest, invalidObject } from '../meta/errors/status.ts'
import { validateFieldManager } from '../meta/object/managername.ts'
import { type FieldSelector, parseFieldSelector } from '../meta/selectors/fields.ts'
import { type LabelSelector, parseLabelSelector } from '../meta/selectors/labels.ts'
import { type ApiRequest, first } from './request.ts'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface WriteOptions {
  dryRun: boolean
  /** As given; '' = not given: Warn, but where a kind hands out access (bodies.ts). */
  fieldValidation: FieldValidation | ''
  /** As given; '' = not given. */
  fieldManager: string
  /** Absent = not given. */
  force?: boolean
}

export interface ListOptions {
  labels: LabelSelector
  /** Whether the kind has these fields is not known here. */
  fields: FieldSelector
  /** 0 = no limit. */
  limit: number
  continue: string
  resourceVersion: string
  resourceVersionMatch: '' | 'Exact' | 'NotOlderThan'
  watch: boolean
  allowWatchBookmarks: boolean
  sendInitialEvents?: boolean
  timeoutSeconds?: number
}

type Query = ApiRequest['query']

/** Go's conversion of a query value: present and neither `false` nor `0`. */
export function flag(query: Query, name: string): boolean | undefined {
  const value = first(query, name)
  return value === undefined ? undefined : !['false', '0'].includes(value.toLowerCase())
}

/** An int64; what JavaScript's numbers do not reach is rounded. Throws 400 in Go's words. */
export function integer(query: Query, name: string): number | undefined {
  const value = first(query, name)
  if (value === undefined) return undefined
  const number = int64(value)
  if (typeof number === 'string') throw badRequest(`strconv.ParseInt: parsing ${quoted(value)}: ${number}`)
  return Number(number)
}

const optionsError = (kind: string, errors: readonly FieldError[]) => invalidObject('meta.k8s.io', kind, '', errors)

/** `All` is the only value of dryRun; none means no. */
export function dryRunErrors(values: readonly string[]): FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', [...values], ['All'])]
}

/** Throws 422 on `kind`. `apply` patches need a field manager, others may not force. */
export function writeOptions(
  query: Query,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  apply = false,
): WriteOptions {
  const dryRun = query.get('dryRun') ?? []
  const fieldManager = first(query, 'fieldManager') ?? ''
  const fieldValidation = first(query, 'fieldValidation') ?? ''
  const force = kind === 'PatchOptions' ? flag(query, 'force') : undefined
  const errors: FieldError[] = []
  if (kind === 'PatchOptions' && apply && fieldManager === '') {
    errors.push(required('fieldManager', 'is required for apply patch'))
  }
  if (!apply && force !== undefined) errors.push(forbidden('force', 'may not be specified for non-apply patch'))
  errors.push(...validateFieldManager(fieldManager), ...dryRunErrors(dryRun))
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  if (errors.length > 0) throw optionsError(kind, errors)
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation as FieldValidation | '',
    fieldManager,
    ...(force !== undefined && { force }),
  }
}

const matchField = 'resourceVersionMatch'
const withContinue = () => forbidden(matchField, 'resourceVersionMatch is forbidden when continue is provided')

function watchErrors(match: string, options: Pick<ListOptions, 'sendInitialEvents' | 'continue'>): FieldError[] {
  const { sendInitialEvents } = options
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(matchField, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (match === '') return errors
  if (sendInitialEvents === undefined) {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
    errors.push(forbidden(matchField, why))
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(matchField, new NamedText(match), ['NotOlderThan']))
  if (options.continue !== '') errors.push(withContinue())
  return errors
}

function listErrors(
  match: string,
  options: Pick<ListOptions, 'sendInitialEvents' | 'resourceVersion' | 'continue'>,
): FieldError[] {
  const { sendInitialEvents, resourceVersion } = options
  const errors: FieldError[] = []
  if (match === '')
    return sendInitialEvents === undefined
      ? []
      : [forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')]
  if (resourceVersion === '') {
    errors.push(forbidden(matchField, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
  }
  if (options.continue !== '') errors.push(withContinue())
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(notSupported(matchField, new NamedText(match), ['Exact', 'NotOlderThan', '']))
  }
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(forbidden(matchField, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (sendInitialEvents !== undefined)
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return errors
}

/** Throws 400 for what does not parse, 422 on ListOptions for combinations that may not be. */
export function listOptions(query: Query, watchable: boolean): ListOptions {
  const text = (name: string): string => first(query, name) ?? ''
  const timeoutSeconds = integer(query, 'timeoutSeconds')
  const watch = watchable && (flag(query, 'watch') ?? false)
  // A watch that starts anywhere says of its own when it has told what is there, as one that asks for it.
  const isLegacy =
    watch && !query.has('sendInitialEvents') && ['', '0'].includes(text('resourceVersion')) && text(matchField) === ''
  const sendInitialEvents = isLegacy ? true : flag(query, 'sendInitialEvents')
  const limit = Math.max(0, integer(query, 'limit') ?? 0)
  // What is asked for at any version comes whole: kube-apiserver answers from its cache, which has no pages.
  const isWhole = text('resourceVersion') === '0' && text('continue') === ''
  const options = {
    labels: parseLabelSelector(text('labelSelector')),
    fields: parseFieldSelector(text('fieldSelector')),
    limit: isWhole ? 0 : limit,
    continue: text('continue'),
    resourceVersion: text('resourceVersion'),
    watch,
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks') ?? false,
    ...(sendInitialEvents !== undefined && { sendInitialEvents }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  }
  const match = isLegacy ? 'NotOlderThan' : text(matchField)
  const errors = watch ? watchErrors(match, options) : listErrors(match, options)
  if (errors.length > 0) throw optionsError('ListOptions', errors)
  return { ...options, resourceVersionMatch: match as ListOptions['resourceVersionMatch'] }
}
