/** Reads JSON values. Accesses members only as own properties, whatever their names. */

import type { JsonObject } from '../types.ts'
import { byBytes } from './byteorder.ts'

/** Reports whether the value is a JSON object, that is, neither a list nor null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the object's own member, or undefined: `constructor` is not a member of `{}`. */
export const own = <V>(object: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** Returns the members in the order in which Go encodes a map. */
export const sortedEntries = <V>(object: Readonly<Record<string, V>>): [string, V][] =>
  Object.entries(object).sort(([one], [other]) => byBytes(one, other))

/** Returns `path.name`, or only the name at the root. */
export const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)
