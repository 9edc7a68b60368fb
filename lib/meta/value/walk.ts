/** What every walk over objects needs. Members are read and written as own properties only, whatever their names. */

import type { JsonObject, JsonValue } from '../types.ts'
import { byBytes } from './byteorder.ts'

/** Whether it is a JSON object: neither a list nor null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member of that name, if the object itself has it: `constructor` is no member of `{}`. */
export const own = <V>(object: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** Members in the order in which Go writes a map. */
export const sortedEntries = <V>(object: Readonly<Record<string, V>>): [string, V][] =>
  Object.entries(object).sort(([one], [other]) => byBytes(one, other))

/** `path.name`, or the name alone at the root. */
export const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** A copy that shares nothing with its original. */
export function deepCopy<T extends JsonValue>(value: T): T
export function deepCopy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => deepCopy(item))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, deepCopy(member)]))
}
