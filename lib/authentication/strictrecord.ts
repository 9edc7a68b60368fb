/**
 * Validates JSON objects that this service wrote, when it reads them from where others could have written. Another release
 * may have written one with more members: the reader ignores members that it does not know, unless `crit` names them
 * (lib/storage/README.md, versions of stored items).
 */
import type { JsonObject } from '../meta/types.ts'
import { isObject, own } from '../meta/value/walk.ts'

export type Check = (value: unknown) => boolean

export const isText: Check = (value) => typeof value === 'string'
export const isNonEmptyText: Check = (value) => typeof value === 'string' && value !== ''
export const isFlag: Check = (value) => typeof value === 'boolean'
/** A count or a time: a whole number of at least 0. */
export const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
export const isTextList: Check = (value) => Array.isArray(value) && value.every(isText)
/** A list of at least one text, and of no empty one. */
export const isNonEmptyTextList: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every(isNonEmptyText)
export const isIdentity: Check = (value) => typeof value === 'string' && /^(user|team|subject):./su.test(value)

/**
 * The member that names the members that a reader must know to understand the record. It is the idea of the header of that
 * name in RFC 7515, section 4.1.11.
 */
const CRIT = 'crit'

/**
 * Returns the `required` and `optional` members of the value. Throws an Error, with `what` and the member but never the
 * value, unless it is an object with every `required` member and only valid values. Also throws for a `crit` that is not
 * a list of names, or that names any other member.
 */
export function strictRecord(
  what: string,
  value: unknown,
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error(`${what} is not an object`)
  for (const member in required) if (!Object.hasOwn(value, member)) throw new Error(`${what} lacks ${member}`)
  const checkOf = (member: string): Check | undefined => own(required, member) ?? own(optional, member)
  if (Object.hasOwn(value, CRIT)) demandKnown(what, value[CRIT], (member) => checkOf(member) !== undefined)
  const known: Record<string, unknown> = {}
  for (const member in value) {
    const isValid = checkOf(member)
    if (isValid === undefined) continue
    if (!isValid(value[member])) throw new Error(`${what} has a wrong ${member}`)
    known[member] = value[member]
  }
  return known
}

function demandKnown(what: string, critical: unknown, isKnown: (member: string) => boolean): void {
  const isList = Array.isArray(critical) && critical.length > 0 && critical.every(isNonEmptyText)
  if (!isList) throw new Error(`${what} has a wrong ${CRIT}`)
  if (!critical.every(isKnown)) throw new Error(`${what} has a critical member that this release does not know`)
}

/**
 * Returns the other members of a record, as the member `unknown` of what it was read into, or nothing. Whoever writes the
 * record again writes them, too.
 */
export function unknownMembers(
  value: JsonObject,
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
): { unknown?: JsonObject } {
  const isUnknown = ([member]: [string, unknown]) =>
    !Object.hasOwn(required, member) && !Object.hasOwn(optional, member)
  const found = Object.entries(value).filter(isUnknown)
  return found.length === 0 ? {} : { unknown: Object.fromEntries(found) }
}
