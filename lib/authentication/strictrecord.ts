/** Reads JSON objects of our own making, when they come back from where others could have written: exactly as made, or not at all. */
import { isObject } from '../meta/value/walk.ts'

export type Check = (value: unknown) => boolean

export const isText: Check = (value) => typeof value === 'string'
export const isNonEmptyText: Check = (value) => typeof value === 'string' && value !== ''
export const isFlag: Check = (value) => typeof value === 'boolean'
/** A count or a time: a whole number from 0 on. */
export const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
export const isTextList: Check = (value) => Array.isArray(value) && value.every(isText)
export const isIdentity: Check = (value) => typeof value === 'string' && /^(user|team|subject):./su.test(value)

/**
 * The value as an object that has every `required` member, no members but those and the `optional` ones, and whose members pass.
 * Throws an Error that names `what` and the member and says nothing of the value.
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
    const checks = Object.hasOwn(required, member) ? required : optional
    const check = Object.hasOwn(checks, member) ? checks[member] : undefined
    if (check === undefined) throw new Error(`${what} has an unknown member`)
    if (!check(one)) throw new Error(`${what} has a wrong ${member}`)
  }
  return value
}
