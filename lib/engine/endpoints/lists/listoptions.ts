/**
 * Parses the query options of lists, watches and deletes of collections. A value that does not parse is a 400 in Go's words; an
 * invalid combination is a 422 on ListOptions. Source: k8s.io/apimachinery apis/meta/internalversion/validation.
 */

import { NamedText } from '../../meta/encoding/badvalue.ts'
import { quote } from '../../meta/encoding/gotext.ts'
import { type FieldError, forbidden, notSupported } from '../../meta/errors/fielderror.ts'
import { badRequest } from '../../meta/errors/status.ts'
import { isSubdomainBeginning } from '../../meta/object/names.ts'
import { type FieldSelector, parseFieldSelector } from '../../meta/selectors/fields.ts'
import { type LabelSelector, parseLabelSelector } from '../../meta/selectors/labels.ts'
import { defined } from '../../meta/value/defined.ts'
import type { Call } from '../call.ts'
import { negotiate, type Output } from '../negotiation/accept.ts'
import { optionsError, type Query, queryFlag, queryInteger } from '../options.ts'
import { queryValue } from '../request.ts'
import { checkPathNames, refuseImpersonation } from '../requestchecks.ts'

export interface ListOptions {
  labels: LabelSelector
  /** May name fields that the kind does not have: `selectionOf` checks them. */
  fields: FieldSelector
  /** The beginning of the names to select: an extension of the Kubernetes API. Absent if not given. */
  namePrefix?: string
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

/** Returns the one value of namePrefix, or undefined if it is absent. Throws 400. */
function queryNamePrefix(query: Query): string | undefined {
  const values = query.get('namePrefix')
  if (values === undefined) return undefined
  const [value = '', ...others] = values
  if (others.length === 0 && isSubdomainBeginning(value)) return value
  throw badRequest(
    "invalid namePrefix: must be the beginning of a name, with lower case alphanumeric characters, '-' or '.', and may be given once",
  )
}

/**
 * Throws 400 for a parameter like `namePrefix`. The release before this one ignores it, and a request that it answers would delete
 * objects of every name.
 */
export function refuseNamePrefix(query: Query): void {
  for (const name of query.keys()) {
    if (!name.toLowerCase().includes('prefix')) continue
    throw badRequest(
      `query parameter ${quote(name)} is not supported in a delete of a collection: list the objects, and delete each by its name`,
    )
  }
}

const selectors = ['labelSelector', 'fieldSelector']

/** Returns what somebody who wrote this name meant: a selector, one of both, or something else. */
function meantSelector(name: string): string | undefined {
  const letters = name.toLowerCase().replace(/[^a-z]/g, '')
  if (!letters.includes('selector') && !['label', 'labels', 'field', 'fields', 'l'].includes(letters)) return undefined
  if (letters.includes('field')) return 'fieldSelector'
  return letters.startsWith('l') ? 'labelSelector' : selectors.join(' or ')
}

/**
 * Throws 400 for a parameter that looks like a selector, for two different ones, and for a selector among the members of the body.
 * Kubernetes ignores all of these, and deletes the whole collection.
 */
export function refuseSelectorLookalikes(query: Query, inBody: readonly string[]): void {
  for (const [name, values] of query) {
    const meant = meantSelector(name)
    if (meant === undefined) continue
    if (!selectors.includes(name)) {
      throw badRequest(`unknown query parameter ${quote(name)}: objects of a collection are selected with ${meant}`)
    }
    if (new Set(values).size > 1) throw badRequest(`${name} is given more than once, with different values`)
  }
  const name = inBody.find((member) => meantSelector(member) !== undefined)
  if (name === undefined) return
  const meant = meantSelector(name)
  throw badRequest(
    `unknown field ${quote(name)} in the body: objects of a collection are selected with the query parameter ${meant}`,
  )
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

/** Throws 400 for values that do not parse, and 422 on ListOptions for invalid combinations. */
export function listOptions(query: Query, watchable: boolean): ListOptions {
  const text = (name: string): string => queryValue(query, name) ?? ''
  const timeoutSeconds = queryInteger(query, 'timeoutSeconds')
  const watch = watchable && (queryFlag(query, 'watch') ?? false)
  // A watch from any version sends its initial events, as if sendInitialEvents were set.
  const isLegacy =
    watch && !query.has('sendInitialEvents') && ['', '0'].includes(text('resourceVersion')) && text(matchField) === ''
  const sendInitialEvents = isLegacy ? true : queryFlag(query, 'sendInitialEvents')
  const namePrefix = queryNamePrefix(query)
  const limit = Math.max(0, queryInteger(query, 'limit') ?? 0)
  // resourceVersion=0 ignores the limit: kube-apiserver answers such lists from its cache, which has no pages.
  const isWhole = text('resourceVersion') === '0' && text('continue') === ''
  const options = {
    labels: parseLabelSelector(text('labelSelector')),
    fields: parseFieldSelector(text('fieldSelector')),
    limit: isWhole ? 0 : limit,
    continue: text('continue'),
    resourceVersion: text('resourceVersion'),
    watch,
    allowWatchBookmarks: queryFlag(query, 'allowWatchBookmarks') ?? false,
    ...defined({ namePrefix, sendInitialEvents, timeoutSeconds }),
  }
  const match = isLegacy ? 'NotOlderThan' : text(matchField)
  const errors = watch ? watchErrors(match, options) : listErrors(match, options)
  if (errors.length > 0) throw optionsError('ListOptions', errors)
  return { ...options, resourceVersionMatch: match as ListOptions['resourceVersionMatch'] }
}

/** Begins a GET of a collection: returns its options and the form of its answer. */
export function beginList(call: Call): { options: ListOptions; output: Output } {
  const { request } = call
  refuseImpersonation(call)
  checkPathNames(request)
  // Options come before the output: a watch accepts other media types than a list.
  const options = listOptions(request.query, true)
  return { options, output: negotiate(request, { watch: options.watch }) }
}
