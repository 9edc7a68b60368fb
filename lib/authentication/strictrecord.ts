/**
 * Validates JSON objects that this service wrote, when it reads them from where others could have written. An object
 * must match its format exactly.
 */
import { isObject, own } from '../meta/value/walk.ts'

export type Check = (value: unknown) => boolean

export const isText: Check = (value) => typeof value === 'string'
export const isNonEmptyText: Check = (value) => typeof value === 'string' && value !== ''
export const isFlag: Check = (value) => typeof value === 'boolean'
/** A count or a time: a whole number of at least 0. */
export const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
export const isTextList: Check = (value) => Array.isArray(value) && value.every(isText)
export const isIdentity: Check = (value) => typeof value === 'string' && /^(user|team|subject):./su.test(value)

/**
 * Returns the value if it is an object with every `required` member, no members besides those and the `optional` ones,
 * and only valid values. Otherwise throws an Error that names `what` and the member but never the value.
 */
export function strictRecord(
  what: string,
  value: unknown,
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error(`${what} is not an object`)
  const missing = Object.keys(required).find((member) => !Object.hasOwn(value, member))
  if (missing !== undefined) throw new Error(`${what} lacks ${missing}`)
  for (const [member, one] of Object.entries(value)) {
    const check = own(required, member) ?? own(optional, member)
    if (check === undefined) throw new Error(`${what} has an unknown member`)
    if (!check(one)) throw new Error(`${what} has a wrong ${member}`)
  }
  return value
}
