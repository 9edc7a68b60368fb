/** Reads untrusted values member by member, by allow-list. */
import { child, isObject, own } from '../../engine/meta/value/walk.ts'

/** Reports a problem. `place` is a path such as `users[0].user.exec`, followed by `why`. Neither contains a value. */
export type Refuse = (place: string, why: string) => never

/** An object with only the named members. */
export type Members<K extends string> = { readonly [N in K]?: unknown }

/** Returns an own member of a value, or undefined when it is absent or the value is not an object. */
export const memberOf = (value: unknown, name: string): unknown => (isObject(value) ? own(value, name) : undefined)

/** Returns the object's members. Refuses values that are not objects, and members that are not in `allowed`. */
export function readMembers<const K extends string>(
  value: unknown,
  place: string,
  allowed: readonly K[],
  refuse: Refuse,
): Members<K> {
  if (!isObject(value)) return refuse(place || 'the secret', 'is not an object')
  for (const name of Object.keys(value)) {
    if (!allowed.some((one) => one === name)) refuse(child(place, shownName(name)), 'is not accepted')
  }
  // Copies own members only, so that a name such as `constructor` finds nothing.
  return Object.fromEntries(Object.entries(value)) as Members<K>
}

/** Returns the items of an optional list. */
export function readItems(value: unknown, place: string, refuse: Refuse): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : refuse(place, 'is not a list')
}

/** Returns an optional text; '' counts as absent. */
export function readText(value: unknown, place: string, refuse: Refuse): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : refuse(place, 'is not a string')
}

/**
 * Returns the name for a message. In a damaged file a "name" may be part of a key, so only plausible names are
 * repeated.
 */
const shownName = (name: string): string => (/^[a-zA-Z][a-zA-Z-]{0,39}$/.test(name) ? name : '(a member)')
