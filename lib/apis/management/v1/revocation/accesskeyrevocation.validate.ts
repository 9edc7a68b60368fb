/** Validates which keys a revocation selects, beyond the schema. What is not clear must never select more. */
import { parseTime } from '../../../../meta/encoding/time.ts'
import { type FieldError, findingsOf, forbidden, invalid, required } from '../../../../meta/errors/fielderror.ts'
import { isEmptySelector, validateLabelSelector } from '../../../../meta/selectors/labelselector.ts'
import { withoutCredentials } from '../../../../meta/value/credentialtext.ts'
import { isPrintable } from '../../../../meta/value/printable.ts'
import type { RevocationSpec } from './accesskeyrevocation.schema.ts'

/** The fields that select by owner. A key has one owner. */
const OWNERS = ['users', 'teams', 'subjects'] as const
const LISTS = [...OWNERS, 'types', 'names'] as const
const TIMES = ['createdBefore', 'unusedSince'] as const
const SELECTORS = ['selector', ...LISTS, ...TIMES, 'madeWith'] as const
/** The fields about what only keys have. */
const KEYS_ONLY = ['types', 'unusedSince', 'unscoped', 'names'] as const

/** How far a time may be ahead: clocks differ. A later one is a mistake that would select every key. */
const AHEAD_SECONDS = 300

/** Returns the 422 errors of a revocation at `now`. */
export function validateRevocation(spec: RevocationSpec, now: Date): FieldError[] {
  return [
    ...selectionErrors(spec),
    ...(spec.federatedIdentityCredentials ? keysOnlyErrors(spec) : []),
    ...(spec.selector ? selectorErrors(spec.selector) : []),
    ...LISTS.flatMap((member) => listErrors(spec[member], `spec.${member}`, member === 'types')),
    ...TIMES.flatMap((member) => timeErrors(spec[member], `spec.${member}`, now)),
    ...(spec.madeWith ? makerErrors(spec.madeWith) : []),
    ...(spec.reason === undefined ? [] : reasonErrors(spec.reason, spec.action)),
  ]
}

function selectionErrors(spec: RevocationSpec): FieldError[] {
  const given = [
    ...SELECTORS.filter((member) => spec[member] !== undefined),
    ...(spec.unscoped ? (['unscoped'] as const) : []),
  ]
  if (spec.all) return given.map((member) => forbidden(`spec.${member}`, 'may not be set with spec.all'))
  if (given.length === 0) return [required('spec', 'set a field that selects keys, or spec.all')]
  const [first, ...others] = OWNERS.filter((member) => spec[member] !== undefined)
  return others.map((member) => forbidden(`spec.${member}`, `may not be set with spec.${first}: a key has one owner`))
}

const keysOnlyErrors = (spec: RevocationSpec): FieldError[] =>
  KEYS_ONLY.filter((member) => spec[member]).map((member) =>
    forbidden(`spec.${member}`, 'may not be set with spec.federatedIdentityCredentials: it selects only access keys'),
  )

function selectorErrors(selector: NonNullable<RevocationSpec['selector']>): FieldError[] {
  if (!isEmptySelector(selector)) return validateLabelSelector(selector, 'spec.selector')
  return [invalid('spec.selector', {}, 'empty selector is invalid for an access key revocation: use spec.all')]
}

function listErrors(list: readonly string[] | undefined, path: string, mayBeEmptyText: boolean): FieldError[] {
  if (list === undefined) return []
  if (list.length === 0) return [invalid(path, [], 'must not be empty: it would select nothing, or count as absent')]
  return mayBeEmptyText
    ? []
    : findingsOf(list, (one, index) => (one === '' ? [invalid(`${path}[${index}]`, one, 'must not be empty')] : []))
}

function timeErrors(text: string | undefined, path: string, now: Date): FieldError[] {
  if (text === undefined) return []
  const at = parseTime(text)
  if (at === undefined) return [invalid(path, text, 'must be a time as in RFC 3339, such as 2026-11-21T09:39:41Z')]
  if (at.getTime() <= now.getTime() + AHEAD_SECONDS * 1000) return []
  return [invalid(path, text, 'must not be in the future')]
}

function makerErrors({ name, uid }: NonNullable<RevocationSpec['madeWith']>): FieldError[] {
  if (!name && !uid) return [required('spec.madeWith', 'set name or uid')]
  return Object.entries({ name, uid }).flatMap(([member, text]) =>
    text === '' ? [invalid(`spec.madeWith.${member}`, text, 'must not be empty')] : [],
  )
}

function reasonErrors(reason: string, action: RevocationSpec['action']): FieldError[] {
  const path = 'spec.reason'
  if (action === 'Delete') return [forbidden(path, 'may not be set with action Delete: a deleted key cannot show it')]
  if (withoutCredentials(reason) !== reason) return [forbidden(path, 'must not contain a credential')]
  return isPrintable(reason) ? [] : [invalid(path, reason, 'must be printable text in one line')]
}
